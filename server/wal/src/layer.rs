//! The layer as SQLite sees it: a table of functions that stands before the operating system's
//! (<https://www.sqlite.org/vfs.html>). The one file of the workspace with unsafe code.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::fmt;
use std::ptr;
use std::sync::OnceLock;

use rusqlite::Connection;
use rusqlite::ffi::{
    SQLITE_BUSY, SQLITE_CANTOPEN, SQLITE_CHECKPOINT_PASSIVE, SQLITE_CONFIG_MEMSTATUS,
    SQLITE_CONFIG_STMTJRNL_SPILL, SQLITE_ERROR, SQLITE_FCNTL_DATA_VERSION, SQLITE_IOERR_CLOSE,
    SQLITE_IOERR_FSTAT, SQLITE_IOERR_FSYNC, SQLITE_IOERR_READ, SQLITE_IOERR_TRUNCATE, SQLITE_IOERR_WRITE,
    SQLITE_NOTFOUND, SQLITE_OK, SQLITE_OPEN_WAL, sqlite3_config, sqlite3_file, sqlite3_file_control,
    sqlite3_hard_heap_limit64, sqlite3_int64, sqlite3_io_methods, sqlite3_memory_highwater, sqlite3_vfs,
    sqlite3_vfs_find, sqlite3_vfs_register, sqlite3_wal_checkpoint_v2,
};

use crate::frames;

/// The layer's name, to open connections with.
pub const VFS: &CStr = c"colibri-wal";

/// An error: SQLite did not accept the layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RegisterError(c_int);

impl fmt::Display for RegisterError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "SQLite does not take the file layer {VFS:?} (code {})", self.0)
    }
}

impl std::error::Error for RegisterError {}

/// Registers the layer with SQLite, and sets the options of SQLite that hold for the process; a second call has no effect. It comes
/// before a process's first connection: SQLite takes these options only before its first use, and keeps its defaults otherwise.
///
/// # Errors
/// SQLite has no layer of its own to build on, or refuses another.
pub fn register() -> Result<(), RegisterError> {
    static REGISTERED: OnceLock<Result<(), RegisterError>> = OnceLock::new();
    *REGISTERED.get_or_init(|| {
        configure();
        // SAFETY: NULL asks for the default layer. SQLite initialises itself first.
        let base = unsafe { sqlite3_vfs_find(ptr::null()) };
        if base.is_null() {
            return Err(RegisterError(SQLITE_ERROR));
        }
        // SAFETY: a layer that SQLite has found is initialised and stays; its table of functions may be copied.
        let mut layer = unsafe { *base };
        let own = c_int::try_from(size_of::<LogFile>()).map_err(|_| RegisterError(SQLITE_ERROR))?;
        layer.szOsFile = layer.szOsFile.checked_add(own).ok_or(RegisterError(SQLITE_ERROR))?;
        layer.pNext = ptr::null_mut();
        layer.zName = VFS.as_ptr();
        layer.xOpen = Some(open);
        BASE.get_or_init(|| Base(base));
        // SAFETY: the table is never freed, so SQLite may keep it. Its other functions are the base's: SQLite's own
        // layers find what they need in pAppData, which was copied.
        let code = unsafe { sqlite3_vfs_register(Box::into_raw(Box::new(layer)), 0) };
        if code == SQLITE_OK { Ok(()) } else { Err(RegisterError(code)) }
    })
}

/// Sets two options that only make calls cheaper, so a refusal does not matter.
fn configure() {
    // What a savepoint must be able to undo stays in memory. By default it goes to a temporary file beyond 64 KiB, which
    // cost 13 of 16 writes of a pipelined call.
    // SAFETY: SQLite takes one int with this option, and refuses the call once it is in use.
    let _in_memory = unsafe { sqlite3_config(SQLITE_CONFIG_STMTJRNL_SPILL, -1 as c_int) };
    // No lock and no bookkeeping around each allocation: a server does not read those numbers.
    // SAFETY: as above.
    let _uncounted = unsafe { sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0 as c_int) };
}

/// Returns a number that is the same at two times only if the connection saw the same content of the database: any commit that it
/// makes or sees changes it (<https://www.sqlite.org/c3ref/c_fcntl_begin_atomic_write.html#sqlitefcntldataversion>). Of
/// use inside a transaction; `None` if SQLite does not say.
pub fn data_version(conn: &Connection) -> Option<u32> {
    let mut version: u32 = 0;
    // SAFETY: the handle lives as long as the connection, which is borrowed, and is not closed here.
    let handle = unsafe { conn.handle() };
    // SAFETY: the name ends in a zero, and this operation writes one unsigned int.
    let code = unsafe {
        sqlite3_file_control(handle, c"main".as_ptr(), SQLITE_FCNTL_DATA_VERSION, (&raw mut version).cast())
    };
    (code == SQLITE_OK).then_some(version)
}

/// Copies the frames of the log that no reader needs into the database (<https://www.sqlite.org/c3ref/wal_checkpoint_v2.html>, mode
/// `PASSIVE`). Returns `false` on an error, and `true` where readers or another copier stand in the way. The statement `PRAGMA wal_checkpoint` does the same and reads the whole
/// schema before, which takes as much memory as the rest of a connection that does nothing else.
pub fn checkpoint(conn: &Connection) -> bool {
    // SQLite opens a log with the first look at its database, and this one needs no schema.
    if conn.pragma_query_value(None, "schema_version", |row| row.get::<_, i64>(0)).is_err() {
        return false;
    }
    // SAFETY: the handle lives as long as the connection, which is borrowed, and is not closed here.
    let handle = unsafe { conn.handle() };
    let (name, mode) = (c"main".as_ptr(), SQLITE_CHECKPOINT_PASSIVE);
    // SAFETY: the name ends in a zero, and SQLite writes no number where it is given no place.
    let code = unsafe { sqlite3_wal_checkpoint_v2(handle, name, mode, ptr::null_mut(), ptr::null_mut()) };
    matches!(code & 0xff, SQLITE_OK | SQLITE_BUSY)
}

/// Bounds what SQLite allocates in this process; beyond the bound, statements fail for lack of memory. Returns whether the bound
/// holds: SQLite counts its allocations only if the option is set before its first use, and then as long as the process runs.
pub fn bound_heap(bytes: i64) -> bool {
    // SAFETY: SQLite takes one int with this option. It refuses the call, and changes nothing, once it is in use.
    let counts = unsafe { sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 1 as c_int) } == SQLITE_OK;
    if counts {
        // SAFETY: a number goes in and the former bound comes out.
        let _former = unsafe { sqlite3_hard_heap_limit64(bytes) };
    }
    counts
}

/// Returns the most bytes that SQLite has had at a time in this process. Zero unless [`bound_heap`] has made it count.
pub fn heap_peak() -> i64 {
    // SAFETY: the number of an unchanged high-water mark comes out; nothing goes in that SQLite keeps.
    unsafe { sqlite3_memory_highwater(0) }
}

/// The layer below.
static BASE: OnceLock<Base> = OnceLock::new();

struct Base(*mut sqlite3_vfs);

// SAFETY: SQLite's layers may be used by all threads, and the pointer is only read.
unsafe impl Send for Base {}
// SAFETY: as above.
unsafe impl Sync for Base {}

/// An open log. The base's own file stands behind it, in the same piece of memory, which SQLite aligns to eight bytes.
#[repr(C, align(8))]
struct LogFile {
    file: sqlite3_file,
}

/// Returns the base's file behind a log.
///
/// # Safety
/// `file` was opened as a log by [`open`].
unsafe fn inner(file: *mut sqlite3_file) -> *mut sqlite3_file {
    // SAFETY: SQLite gives each file szOsFile bytes, which is ours and the base's.
    unsafe { file.cast::<LogFile>().add(1).cast() }
}

/// Opens a file: a log through this layer, any other as the base does it.
///
/// # Safety
/// As SQLite calls it: `file` has room for szOsFile bytes, the other pointers are what the base's function wants.
unsafe extern "C" fn open(
    _: *mut sqlite3_vfs,
    name: *const c_char,
    file: *mut sqlite3_file,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    let Some(&Base(base)) = BASE.get() else { return SQLITE_CANTOPEN };
    // SAFETY: the layer below was found initialised and stays.
    let Some(base_open) = (unsafe { (*base).xOpen }) else { return SQLITE_CANTOPEN };
    if flags & SQLITE_OPEN_WAL == 0 {
        // SAFETY: the arguments are SQLite's own.
        return unsafe { base_open(base, name, file, flags, out_flags) };
    }
    // SAFETY: behind our part there is room for the base's.
    let below = unsafe { inner(file) };
    // SAFETY: the arguments are SQLite's own but for the file, which is the base's part.
    let code = unsafe { base_open(base, name, below, flags, out_flags) };
    // SAFETY: the base leaves no functions in a file that it did not open; SQLite's rule is to close it if it did.
    let opened = unsafe { !(*below).pMethods.is_null() };
    // SAFETY: there is room for our part, which holds nothing else.
    unsafe { (*file).pMethods = if opened { &raw const LOG } else { ptr::null() } };
    code
}

/// What SQLite calls on a log. Version 1 has no shared memory and no mapping: those belong to the database file.
static LOG: sqlite3_io_methods = sqlite3_io_methods {
    iVersion: 1,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(file_size),
    xLock: Some(lock),
    xUnlock: Some(unlock),
    xCheckReservedLock: Some(check_reserved_lock),
    xFileControl: Some(file_control),
    xSectorSize: Some(sector_size),
    xDeviceCharacteristics: Some(device_characteristics),
    xShmMap: None,
    xShmLock: None,
    xShmBarrier: None,
    xShmUnmap: None,
    xFetch: None,
    xUnfetch: None,
};

/// Writes to the base's file.
///
/// # Safety
/// `below` is the open file behind a log.
unsafe fn write_below(below: *mut sqlite3_file, data: &[u8], offset: i64) -> Result<(), c_int> {
    let length = c_int::try_from(data.len()).map_err(|_| SQLITE_IOERR_WRITE)?;
    // SAFETY: the base has set its functions when it opened the file.
    let functions = unsafe { (*below).pMethods };
    // SAFETY: the tables of functions are static.
    let write = unsafe { (*functions).xWrite }.ok_or(SQLITE_IOERR_WRITE)?;
    // SAFETY: the data is as long as it says.
    match unsafe { write(below, data.as_ptr().cast(), length, offset) } {
        SQLITE_OK => Ok(()),
        code => Err(code),
    }
}

/// # Safety
/// As SQLite calls it: `file` is an open log, `data` holds `length` bytes.
unsafe extern "C" fn write(
    file: *mut sqlite3_file,
    data: *const c_void,
    length: c_int,
    offset: sqlite3_int64,
) -> c_int {
    let Ok(length) = usize::try_from(length) else { return SQLITE_IOERR_WRITE };
    // SAFETY: SQLite hands over as many bytes as it says.
    let data = unsafe { std::slice::from_raw_parts(data.cast::<u8>(), length) };
    // SAFETY: the file is a log.
    let below = unsafe { inner(file) };
    // SAFETY: an open log has an open file behind it.
    let sink = |data: &[u8], offset| unsafe { write_below(below, data, offset) };
    frames::write(file.addr(), data, offset, SQLITE_IOERR_WRITE, sink)
        .map_or_else(|code| code, |()| SQLITE_OK)
}

/// Closes the base's file in any case. What was gathered has no commit mark: a commit does not close its log.
///
/// # Safety
/// As SQLite calls it: `file` is an open log.
unsafe extern "C" fn close(file: *mut sqlite3_file) -> c_int {
    frames::forget(file.addr());
    // SAFETY: the file is a log.
    let below = unsafe { inner(file) };
    // SAFETY: the base has set its functions when it opened the file.
    let functions = unsafe { (*below).pMethods };
    // SAFETY: the tables of functions are static.
    match unsafe { (*functions).xClose } {
        // SAFETY: the file is the base's part.
        Some(close) => unsafe { close(below) },
        None => SQLITE_IOERR_CLOSE,
    }
}

/// Defines a function that writes what was gathered of the log, and then passes a call to the base's.
macro_rules! hand_on {
    ($name:ident, $method:ident, $absent:expr $(, $argument:ident: $type:ty)*) => {
        /// # Safety
        /// As SQLite calls it: `file` is an open log, the arguments are what the base's function wants.
        unsafe extern "C" fn $name(file: *mut sqlite3_file $(, $argument: $type)*) -> c_int {
            // SAFETY: the file is a log.
            let below = unsafe { inner(file) };
            // SAFETY: an open log has an open file behind it.
            let settled = frames::settle(file.addr(), |data, offset| unsafe { write_below(below, data, offset) });
            if let Err(code) = settled {
                return code;
            }
            // SAFETY: the base has set its functions when it opened the file.
            let functions = unsafe { (*below).pMethods };
            // SAFETY: the tables of functions are static.
            match unsafe { (*functions).$method } {
                // SAFETY: the arguments are SQLite's own but for the file, which is the base's part.
                Some(function) => unsafe { function(below $(, $argument)*) },
                None => $absent,
            }
        }
    };
}

hand_on!(read, xRead, SQLITE_IOERR_READ, data: *mut c_void, length: c_int, offset: sqlite3_int64);
hand_on!(truncate, xTruncate, SQLITE_IOERR_TRUNCATE, size: sqlite3_int64);
hand_on!(sync, xSync, SQLITE_IOERR_FSYNC, flags: c_int);
hand_on!(file_size, xFileSize, SQLITE_IOERR_FSTAT, size: *mut sqlite3_int64);
hand_on!(lock, xLock, SQLITE_OK, level: c_int);
hand_on!(unlock, xUnlock, SQLITE_OK, level: c_int);
hand_on!(check_reserved_lock, xCheckReservedLock, SQLITE_OK, reserved: *mut c_int);
hand_on!(file_control, xFileControl, SQLITE_NOTFOUND, operation: c_int, argument: *mut c_void);
hand_on!(sector_size, xSectorSize, 0);
hand_on!(device_characteristics, xDeviceCharacteristics, 0);
