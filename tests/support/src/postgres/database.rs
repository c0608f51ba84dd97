//! A database for one test.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use postgres::Client;

use super::cluster::{Cluster, Role};

/// What `colibri postgres setup` and `colibri postgres migrate` run: the roles, and each version's schema.
const SETUP: &str = include_str!("../../../../migrations/postgres/setup.sql");
const SCHEMA: [(u32, &str); 3] = [
    (15, include_str!("../../../../migrations/postgres/015_base.sql")),
    (16, include_str!("../../../../migrations/postgres/016_wrap.sql")),
    (17, include_str!("../../../../migrations/postgres/017_call_notes.sql")),
];
/// The table of the probe server, which may create none itself.
const PROBE: &str = "CREATE TABLE public.probe (key text COLLATE \"C\" PRIMARY KEY, value bytea NOT NULL);
    GRANT SELECT, INSERT ON public.probe TO colibri_app";
/// What an operator gives to verification, so that it compares the indexes with their tables.
const AMCHECK: &str = "CREATE EXTENSION amcheck;
    GRANT EXECUTE ON FUNCTION bt_index_check(regclass, boolean) TO colibri_app, colibri_read";

/// A database in the cluster of the run.
#[derive(Debug)]
pub struct Database {
    cluster: &'static Cluster,
    name: String,
    /// Whether it goes with this value, and not with a folder.
    owned: bool,
}

impl Database {
    /// A database without a table, for tests of setup and migrations, dropped at the end; `None` without PostgreSQL.
    pub fn empty() -> Option<Self> {
        Cluster::shared().map(|cluster| Self::of(cluster, "template1"))
    }

    /// A database that is set up and migrated, dropped at the end; `None` without PostgreSQL.
    pub fn new() -> Option<Self> {
        Cluster::shared().map(|cluster| Self::of(cluster, template(cluster)))
    }

    /// The database that stands for the file of that path: set up and migrated at the first use, and dropped when a test
    /// after the folder's end asks for another. `None` without PostgreSQL.
    pub fn standing_for(path: &Path) -> Option<Self> {
        let cluster = Cluster::shared()?;
        Some(Self::in_place_of(path, cluster, || template(cluster).to_owned()))
    }

    /// A copy that stands for another path. No connection to the original may be open.
    pub fn copy(&self, to: &Path) -> Self {
        Self::in_place_of(to, self.cluster, || self.name.clone())
    }

    fn in_place_of(path: &Path, cluster: &'static Cluster, template: impl FnOnce() -> String) -> Self {
        // The folder itself may be yet to come.
        let folder = path.ancestors().skip(1).find(|folder| folder.exists()).and_then(Path::to_str);
        let folder = folder.expect("a path with a folder that is there");
        let name = format!("test_{:016x}", hash_of(path));
        let mut client = cluster.client(Role::Superuser, "postgres");
        let there = "SELECT 1 FROM pg_database WHERE datname = $1";
        if client.query_opt(there, &[&name]).expect("the catalog").is_none() {
            sweep(&mut client);
            let template = template();
            client.batch_execute(&format!("CREATE DATABASE {name} TEMPLATE {template}")).expect("a database");
            let folder = folder.replace('\'', "''");
            client.batch_execute(&format!("COMMENT ON DATABASE {name} IS '{folder}'")).expect("a comment");
        }
        Self { cluster, name, owned: false }
    }

    fn of(cluster: &'static Cluster, template: &str) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let name = format!("test_{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let mut client = cluster.client(Role::Superuser, "postgres");
        // A killed test may have left one of that name, if the system has used its number again.
        client.batch_execute(&format!("DROP DATABASE IF EXISTS {name}")).expect("no test uses it");
        client.batch_execute(&format!("CREATE DATABASE {name} TEMPLATE {template}")).expect("a new database");
        Self { cluster, name, owned: true }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The cluster it is in, which other tests use, too.
    pub fn cluster(&self) -> &'static Cluster {
        self.cluster
    }

    /// Its URL for a role, over TCP.
    pub fn url(&self, role: Role) -> String {
        self.cluster.url(role, &self.name)
    }

    /// The same over the Unix socket.
    pub fn socket_url(&self, role: Role) -> String {
        self.cluster.socket_url(role, &self.name)
    }

    /// A connection of the test's own.
    pub fn client(&self, role: Role) -> Client {
        self.cluster.client(role, &self.name)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        if !self.owned {
            return;
        }
        let mut client = self.cluster.client(Role::Superuser, "postgres");
        let dropped = client.batch_execute(&format!("DROP DATABASE {} WITH (FORCE)", self.name));
        // A second panic would hide the first.
        if !std::thread::panicking() {
            dropped.expect("the superuser drops it");
        }
    }
}

/// Drops the databases of folders that are gone.
fn sweep(client: &mut Client) {
    let sql = "SELECT datname::text, shobj_description(oid, 'pg_database') FROM pg_database WHERE datname LIKE 'test%'";
    for row in client.query(sql, &[]).expect("the catalog") {
        let (name, folder): (String, Option<String>) = (row.get(0), row.get(1));
        if folder.is_some_and(|folder| !Path::new(&folder).exists()) {
            // Another test may be dropping it, too.
            let _ = client.batch_execute(&format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"));
        }
    }
}

/// The database of which the others are copies, made by the first test that needs one.
fn template(cluster: &'static Cluster) -> &'static str {
    static NAME: OnceLock<String> = OnceLock::new();
    NAME.get_or_init(|| {
        // Another build of the tests may use the cluster at the same time.
        let name = format!("template_{:016x}", hash_of(&(SETUP, SCHEMA, AMCHECK)));
        cluster.alone(|| {
            let mut client = cluster.client(Role::Superuser, "postgres");
            let there = "SELECT 1 FROM pg_database WHERE datname = $1";
            if client.query_opt(there, &[&name]).expect("the catalog").is_some() {
                return;
            }
            client.batch_execute("DROP DATABASE IF EXISTS unfinished").expect("no test uses it");
            cluster.set_up("unfinished");
            client
                .batch_execute(&format!("ALTER DATABASE unfinished RENAME TO {name}"))
                .expect("a free name");
        });
        name
    })
}

impl Cluster {
    /// Makes a database of that name, set up and migrated.
    pub fn set_up(&self, name: &str) {
        let mut client = self.client(Role::Superuser, "postgres");
        client.batch_execute(&format!("CREATE DATABASE {name}")).expect("a new database");
        let mut inside = self.client(Role::Superuser, name);
        inside.batch_execute(SETUP).expect("setup runs");
        for (version, schema) in SCHEMA {
            let migrate = format!(
                "BEGIN; SET LOCAL ROLE colibri_owner; SET LOCAL search_path = colibri; {schema};
                 INSERT INTO schema_version (version) VALUES ({version}); COMMIT"
            );
            inside.batch_execute(&migrate).expect("migrations run");
        }
        inside.batch_execute(PROBE).expect("the probe's table is none of the server's");
        inside.batch_execute(AMCHECK).expect("the extension comes with PostgreSQL");
    }
}

fn hash_of(what: &(impl Hash + ?Sized)) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}
