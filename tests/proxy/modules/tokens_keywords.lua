-- Every keyword, in the order of the numbers.
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
local words = [[
accessible action add all alter analyze and as asc asensitive before between bigint binary bit blob both by
call cascade case change char character check collate column condition constraint continue convert create
cross current_date current_time current_timestamp current_user cursor database databases date day_hour
day_microsecond day_minute day_second dec decimal declare default delayed delete desc describe deterministic
distinct distinctrow div double drop dual each else elseif enclosed enum escaped exists exit explain false
fetch float float4 float8 for force foreign from fulltext grant group having high_priority hour_microsecond
hour_minute hour_second if ignore in index infile inner inout insensitive insert int int1 int2 int3 int4 int8
integer interval into is iterate join key keys kill leading leave left like limit linear lines load localtime
localtimestamp lock long longblob longtext loop low_priority master_ssl_verify_server_cert match mediumblob
mediumint mediumtext middleint minute_microsecond minute_second mod modifies natural no not no_write_to_binlog
null numeric on optimize option optionally or order out outer outfile precision primary procedure purge range
read read_only reads read_write real references regexp release rename repeat replace require restrict return
revoke right rlike schema schemas second_microsecond select sensitive separator set show smallint spatial
specific sql sql_big_result sql_calc_found_rows sqlexception sql_small_result sqlstate sqlwarning ssl starting
straight_join table terminated text then time timestamp tinyblob tinyint tinytext to trailing trigger true
undo union unique unlock unsigned update usage use using utc_date utc_time utc_timestamp values varbinary
varchar varcharacter varying when where while with write x509 xor year_month zerofill
]]
for word in words:gmatch("%S+") do
	tokens(word)
	tokens(word:upper())
	tokens(word .. "x")
end
