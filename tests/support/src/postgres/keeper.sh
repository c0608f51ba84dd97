# keeper FOLDER GRACE: ends the servers in FOLDER and removes it, when no process has held FOLDER/lock for GRACE seconds.
# The kernel gives up a lock when its process ends in any way, so a killed test leaves nothing behind either.
folder=$1 grace=$2
exec 9<"$folder/lock"
while :; do
    flock -x 9
    flock -u 9
    sleep "$grace"
    # The last test has cleared up by itself.
    [ -e "$folder/lock" ] || exit 0
    flock -n -x 9 && break
done
for file in "$folder"/*/postmaster.pid; do
    [ -e "$file" ] || continue
    data=${file%/postmaster.pid}
    server=$(head -n 1 "$file")
    # The number may be another program's by now.
    runs() { [ "$(readlink "/proc/$server/cwd")" = "$data" ]; }
    runs && kill -QUIT "$server"
    tries=0
    while runs && [ "$tries" -lt 100 ]; do
        tries=$((tries + 1))
        sleep 0.1
    done
done
# A test that starts now must not find half a folder.
mv "$folder" "$folder.gone" && rm -rf "$folder.gone"
