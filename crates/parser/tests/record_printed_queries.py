"""Writes the texts of printed_queries.tsv anew: what SHOW CREATE VIEW of MySQL says of each query. record_printed_queries.py HOST:PORT"""
import pathlib
import sys

import pymysql

FILE = pathlib.Path(__file__).with_name("printed_queries.tsv")
# The tables that printed_queries.rs knows.
TABLES = ["create table t (a int primary key, b varchar(20), c int, d date)", "create table u (a int, b varchar(20), e int)",
          "create table w (a int, f int)"]


def main():
    host, port = sys.argv[1].split(":")
    connection = pymysql.connect(host=host, port=int(port), user="root", charset="utf8mb4")
    cursor = connection.cursor()
    for statement in ["drop database if exists printed_queries", "create database printed_queries", "use printed_queries", *TABLES]:
        cursor.execute(statement)
    lines = []
    for line in FILE.read_text().splitlines():
        query = line.split("\t")[0]
        cursor.execute("create or replace view v as " + query)
        cursor.execute("show create view v")
        lines.append(query + "\t" + cursor.fetchone()[1].split(" AS ", 1)[1])
    FILE.write_text("".join(line + "\n" for line in lines))
    cursor.execute("drop database printed_queries")


main()
