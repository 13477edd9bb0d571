#!/usr/bin/env python3
"""Writes recorded.tsv: what MySQL stores for every combination of column type and literal below.

    python3 record.py PORT       (needs pymysql and a MySQL server at 127.0.0.1, user root without password)
"""

import pathlib
import re
import sys

import pymysql

c = pymysql.connect(host='127.0.0.1', port=int(sys.argv[1]), user='root', charset='utf8mb4', autocommit=True).cursor()
OUT = pathlib.Path(__file__).parent / 'recorded.tsv'
cols={'ti':'tinyint','tu':'tinyint unsigned','i':'int','bi':'bigint','bu':'bigint unsigned','d52':'decimal(5,2)','du':'decimal(5,2) unsigned','f':'float','f52':'float(5,2)','db':'double','dbu':'double unsigned','b4':'bit(4)','b64':'bit(64)','y':'year','c3':'char(3)','v3':'varchar(3)','l3':'varchar(3) character set latin1','tx':'tinytext','bn3':'binary(3)','vb3':'varbinary(3)','e':"enum('a','b','10')",'st':"set('x','y','z')",'dt':'datetime','dt3':'datetime(3)','da':'date','t':'time','t2':'time(2)','ts':'timestamp'}
lits="""'abc'|'12abc'|''|' 12 '|'-1'|'1.5'|'-0.4'|'1e2'|'1e400'|'99999999999999999999'|'-129'|'255'|'256'|'1.555'|'999.995'|'1,2'|0|1|-1|70|2155|2156|127|128|-129|300|99999999999|18446744073709551615|-9223372036854775808|1.5|-0.4|2.6|1.555|999.995|99999999999999999999|20200101.6|1.5e0|-0.4e0|2.5e0|1e20|-1e300|1.555e0|20200101e0|x'61'|x'ff'|x'0012'|'abcd'|'abc '|'abc  d'|'日本'|'日本語x'|'é'|'A '|'a'|'10'|'4'|'x,z'|'X,q'|'x,'|'7'|'8'|' x'|'2020-02-30'|'0000-00-00'|'2020-00-01'|'2020-01-01 12:34:56.6789'|'2020-01-01x'|'2020-12-31 23:59:59.9999'|'9999-12-31 23:59:59.9999'|'2020-01-01 10:00:00+01:00'|'1969-12-31 23:59:59'|'1970-01-01 00:00:00'|'1970-01-01 00:00:01'|'2038-01-19 03:14:07'|'2038-01-19 03:14:08'|20200101|20200101123456|20200101123456.789|101|1231|20201301|'10:11:12.345'|'10:99:00'|'900:00:00'|'-10:11'|'10:11x'|109900|99999999|-1.5|8385959|date'2020-02-03'|time'10:11:12'|time'-100:11:12.678'|timestamp'2020-02-03 10:11:12'|timestamp'2020-02-03 10:11:12.987'""".split('|')
c.execute("create database if not exists store_record")
c.execute("use store_record")
c.execute("drop table if exists gs"); c.execute("create table gs("+','.join(f"{k} {v}" for k,v in cols.items())+")")
c.execute("set time_zone='+00:00'"); c.execute("set timestamp=1700000000")
out=[]
for mode,m in (('strict','STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE'),('loose','')):
    c.execute("set sql_mode=%s",m)
    for k,v in cols.items():
        for l in lits:
            # Not here but in number_fit.rs and copied_columns.test: floats in short strings, times like 1e2.
            if re.fullmatch(r'-?[0-9.]+e[0-9]+',l) and any(x in v for x in('char','binary')): continue
            if l=='300' and v=='timestamp': continue
            if l in("'1e2'","'1e400'") and v in('time','time(2)'): continue
            c.execute("delete from gs")
            try:
                c.execute(f"insert into gs({k}) values({l})")
            except pymysql.Error as e:
                out.append((mode,v,l,'error',f"{e.args[0]} {e.args[1]}")); continue
            c.execute("show warnings"); w=c.fetchall()
            shown=f"HEX({k})" if any(x in v for x in('char','text','binary')) else f"{k}+0" if any(x in v for x in('bit','enum','set(')) else f"CAST({k} AS CHAR)"
            if v in('float','double','double unsigned') : shown=f"CAST({k} AS CHAR)"
            c.execute(f"select {shown} from gs"); r=c.fetchone()[0]
            r=str(r)
            if any(x in v for x in('bit','enum','set(')): r=str(int(float(r))) if '.' in r else r
            ws=[x for x in w if x[1]!=4095 and x[1]!=4096]
            out.append((mode,v,l,r,'; '.join(f"{x[0]} {x[1]} {x[2]}" for x in ws)))
def esc(s): return s.replace('\t','\\t').replace('\n','\\n')
open(OUT, 'w').write(''.join('\t'.join(esc(x) for x in r)+'\n' for r in out))
c.execute('drop database store_record')
print(len(out))
