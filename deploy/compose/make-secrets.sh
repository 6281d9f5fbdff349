#!/bin/sh
# Makes what compose.yaml mounts as secrets, once: a second run refuses, because a new master key cannot read what is stored.
set -eu
folder="$(dirname "$0")/secrets"
mkdir -m 700 "$folder"
make_password() { openssl rand -hex 24; }
administrator=$(make_password)
owner=$(make_password)
application=$(make_password)
printf %s "$administrator" > "$folder/administrator-password"
printf %s "$owner" > "$folder/owner-password"
printf %s "$application" > "$folder/application-password"
printf %s "postgres://carillon_app:$application@database:5432/carillon" > "$folder/database-url"
printf %s "postgres://carillon_owner:$owner@database:5432/carillon" > "$folder/database-owner-url"
openssl rand -base64 32 > "$folder/master-key"
# Mounted file by file for accounts that the host does not know; on the host nobody else passes the folder.
chmod 444 "$folder"/*
echo "$folder is made. Keep a copy of $folder/master-key where no backup of the database is."
