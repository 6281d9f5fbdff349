#!/bin/sh
# The two roles of docs/operations.md, and their database; the image of PostgreSQL calls this when it makes its files.
set -eu
psql --set ON_ERROR_STOP=1 --username postgres --dbname postgres \
  --set owner_password="$(cat /run/secrets/owner-password)" \
  --set application_password="$(cat /run/secrets/application-password)" << 'SQL'
create role carillon_owner login password :'owner_password';
create role carillon_app login noinherit password :'application_password';
create role carillon_app_across nologin bypassrls;
grant carillon_app_across to carillon_app;
create database carillon owner carillon_owner;
\connect carillon
create extension if not exists btree_gin;
create extension if not exists pg_trgm;
SQL
