-- Numbers, names, quotes, comments, functions, operators.
local tokenizer = require("mysql.tokenizer")
local function tokens(s)
	local ok, list = pcall(tokenizer.tokenize, s)
	local out = {}
	for i = 1, #list do
		local token = list[i]
		out[#out + 1] = ("%d:%s:%s"):format(token.token_id, token.token_name, quote(token.text))
	end
	print(quote(s), #list, table.concat(out, " "))
end
for _, s in ipairs{
"0x1f","0X1F","0x","0xg1","x'1f'","X'1F'","b'01'","0b01","n'a'","_utf8'a'","1.5","1.","1.a",".5",".5.5","1.5.6","1e5","1e","1e+5","1E-5","1.5e3","1.5e","1.e3",".5e2","1.5E+10x","12abc","1a","1_a","0x1fg","-1","+1","- 1","1-1","1 -1","a-1",
"'a''b'","'a\\'b'","'a\\\\'","'a\\nb'","'a\\tb'","'a\\0b'","'a\\%b'","'a\"b'","\"a'b\"","\"a\"\"b\"","\"a\\\"b\"","'abc","\"abc","`abc","`a``b`","`a\\`b`","'a' 'b'","'a'\n'b'","'a\0b'","''","\"\"","``","'''","''''","'\\'","'a\nb'",
"/* c */","/**/","/*","/* a","/*a*/b","/*! 40000 a */","/*!40000 select */","/*!40000 a","/*!a*/","/*!*/","/*!","/* a /* b */ c */","/***/","/* * */","/*/","/* a\nb */","/*'*/","/*+ hint */","/*!40101 SET NAMES utf8 */;","/*!323 a*/","/*! */x*/","/*!40000a*/","/*!99*/","*/","/*!40000select*/",
"-- text","--text","--\ttext","-- a\nb","--\n","--","-- ","-- a\r\nb","a--b","a -- b","1--1","--\na","-- ;x","# a\nb","#","#a","--\v1","--\f1","--\r1",
"@a","@@a","@@global.a","@@session.x","@'a'","@`a`","@ a","a.b.c","a . b",".a","a.","`a`.`b`","a.`b`","@@","@a:=1",":=",":a","a@b.c","a.1","a.1b","1.a","t.select","select.t","db.table","x.from y",
"foo(1)","foo (1)","foo\n(1)","foo/**/(1)","select(1)","SELECT (1)","in(1)","in (1)","IN\t(1)","values(1)","count(*)","if(1)","`foo`(1)","@foo(1)","a.foo(1)","a.foo (1)","current_user()","left(a,1)","insert(1)","char(5)","foo(","1foo(1)","FoO(","replace(1)","mod(1,2)","concat (1)","foo  (", "foo \n (","_a(1)","foo(bar(1))","9a(1)","a1(",
"select","SELECT","SeLeCt","selects","select_","_select","select1","NULL","null","select\0","select\0from",
"a=1","a==1","a<=>1","<=>","<>","!=","<=",">=","<<",">>","||","&&","|","&","^","~","!","=<","=>",":=","->","->>","<=>=","><","*","a*b","(*)","{d '2000'}","?","??","$","$1","$a","[1]","\\N","\\","\"a\" \"b\"","","   ","a b","a,b","a;b;c",";",";;","%","a%b","\195\164","a\195\164b","'\195\164'","`\195\164`","\195\164(1)","\160a","1\195\164","\255",
"SELECT 1;DROP TABLE x","SELECT * FROM t WHERE a='b' AND c=1.5 -- end","INSERT INTO t (a,b) VALUES (1,'x'),(2,\"y\")","CREATE TABLE t(id INT(10) PRIMARY KEY)","SHOW SLAVE STATUS", "select @@version_comment limit 1", "SET @a := 5", "call p(1)", "SELECT a AS 'b c'","1/2","1 / 2","a/b","a/*c*/b","a /b","-- a\n-- b\nc","1..2","1...2","..","0.","00.1","1e5e5","1.2e-3.4","0xffxx","0x.","1x","99999999999999999999999","'a'b","b'a","'a'1","1'a'","a'b'c","`a`b","b`a`"}
do tokens(s) end
for _, s in ipairs{
"1(","1e5(","1.5(","1e(","1.(",".5(","/* a **/","/*! a **/","/* a * / */","--  text","-- \n","-- \na","--\t\ttext","/*\\*/","/*a*b*/","'a'''","`a`(","@@a(","select@a","/****/","/*** a ***/","/*!**/","/*a*","/*a**","/*a* b","/*!a*","-- a\n\n-- b","-- \\","select/*","'a''","`a``","1e5a(","1E5","1ea","1e+a","1e+","1.5e+","a\r\nb","--\n\n","-- x\0y","/*a\0b*/","`a\0b`","!==","<>=","&&&","|||","::=","/*!!*/","/* !a*/","--- a","---- a","-- a -- b","0e0",".e5","5.e","'it''s'", "\"\"\"\""}
do tokens(s) end
for _, s in ipairs{
".1b",".5x","a.1b","1.1b",".1e",".1e5b",".1_",".1@","a .1b","x.1","x.1 ","x.1,",".1.b",".12abc(", ".1(", "1.1(", ".1e5(", "a.1e5","a.1e5b","t.1a","t.1a.b","1.5e3x","1.5_", ".5e+3x",".1e+","..1b","1..1b","a..1b"}
do tokens(s) end
for _, s in ipairs{
"`a`.1b","select.1b","t.1a(","t.1a(1)","f(1).1b","1a.1b","a.1b.1c","a.b.1c","@a.1b","1.1b","12.1b","1e5.1b","'a'.1b","t.1(","a. 1b","a.1 b","a.1_","a.1@b","a.123x456","in.1b",").1b","f.1e5(","a.1b.2","a.1.2b","a.1e5.2b"}
do tokens(s) end
