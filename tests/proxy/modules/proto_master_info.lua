-- The text of master.info, cut short and whole.
local p = require("mysql.proto")
show("tm none", p.to_masterinfo_string) show("tm {}", p.to_masterinfo_string, {}) show("fm none", p.from_masterinfo_string) show("fm empty", p.from_masterinfo_string, "") show("fm x", p.from_masterinfo_string, "x") show("fm num", p.from_masterinfo_string, 5)
local lines={"18","log-bin.000003","154","127.0.0.1","repl","secret","3306","60","0","ca","capath","cert","cipher","key","1","1.5","bind","1 2","uuid","86400"}
for n=1,#lines do show("fm "..n, p.from_masterinfo_string, table.concat(lines,"\n",1,n).."\n") end
show("fm nonl", p.from_masterinfo_string, table.concat(lines,"\n",1,14))
show("fm nonl15", p.from_masterinfo_string, table.concat(lines,"\n",1,15))
lines[1]="14" for n=13,16 do show("fm14 "..n, p.from_masterinfo_string, table.concat(lines,"\n",1,n).."\n") end
lines[1]="15" for n=13,16 do show("fm15 "..n, p.from_masterinfo_string, table.concat(lines,"\n",1,n).."\n") end
lines[1]="7" show("fm7", p.from_masterinfo_string, table.concat(lines,"\n",1,7).."\n")
lines[1]="log-bin.1" show("fm-old", p.from_masterinfo_string, table.concat(lines,"\n",1,7).."\n")
lines[1]="15" lines[3]="abc" lines[7]="xx" show("fm-bad", p.from_masterinfo_string, table.concat(lines,"\n",1,15).."\n")
show("tm", p.to_masterinfo_string, {})
local all = {lines=15, log_file="a",log_pos=4,host="h",user="u",pass="p",port=1,connect_retry=2,has_ssl=1,ssl=1,master_log_file="a",master_log_pos=4}
