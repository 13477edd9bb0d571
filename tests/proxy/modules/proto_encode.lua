-- Every field of every packet with every type of value.
local p = require("mysql.proto")
local function each(n, fields) local t = p["to_"..n.."_packet"]
  for _, f in ipairs(fields) do for _, v in ipairs(f=="capabilities" and n=="challenge" and {7,300,70000,0x8200,0xf7ff,2^33,1.7,"abc","5","",true,{},print} or f=="challenge" and {"abcdefgh","abcdefghi","01234567890123456789","012345678901234567890123456789","0123456789012345678\0"} or {7, -1, 300, 70000, 2^33, 1.7, "abc", "5", "", true, {}, print}) do
    local base = n=="response" and {server_capabilities=0xffffffff%2^31} or {}
    if f == "server_capabilities" then base = {} end
    base[f]=v show("to "..n.." "..f.."="..quote(v), t, base) end end end
print("== challenge") each("challenge", {"capabilities","challenge","charset","protocol_version","server_status","server_version","thread_id","server_version_str","auth_plugin_name"})
print("== ok") each("ok", {"affected_rows","insert_id","server_status","warnings","msg","message"})
print("== err") each("err", {"errcode","errmsg"})
print("== eof") each("eof", {"server_status","warnings"})
print("== plugin")
local C = {capabilities=0x88200, challenge="01234567890123456789"}
show("a", p.to_challenge_packet, C) C.challenge = C.challenge .. "\0" show("b", p.to_challenge_packet, C) show("d", function() return p.from_challenge_packet(p.to_challenge_packet(C)) end)
C.challenge="0123456789" show("e", p.to_challenge_packet, C)
C.capabilities=0x80000 show("f", p.to_challenge_packet, C)
C.capabilities=0x8200 C.challenge="01234567890123456789" show("g", p.to_challenge_packet, C)
C.capabilities=2^31+0x80000 C.challenge="01234567890123456789" show("h", p.to_challenge_packet, C)
C.capabilities=0x80088200 show("i", p.to_challenge_packet, C)
print("== lenenc")
for _, n in ipairs{250,251,252,65535,65536,16777215,16777216,2^32,2^40} do show("ok "..n, p.to_ok_packet, {affected_rows=n, insert_id=n}) end
for _, n in ipairs{250,251} do show("resp "..n, function() local s = p.to_response_packet{server_capabilities=0x8200, response=("x"):rep(n)} return s:sub(30,40), #s end) end
show("resp -1", p.to_response_packet, {server_capabilities=-1, database="d", response="r", username="u", auth_plugin_name="p", capabilities=0x88200})
show("resp -1b", p.to_response_packet, {server_capabilities=2^32-1, database="d", response="r", username="u", auth_plugin_name="p", capabilities=0x88200})
show("resp nul", p.to_response_packet, {server_capabilities=8, database="d\0e", response="r\0s", username="u\0v"})
show("fr", p.from_response_packet, "") show("fr", p.from_response_packet, "", 0)
local s = p.to_response_packet{server_capabilities=0x88208, capabilities=0x88208, database="d", response="r", username="u", auth_plugin_name="p"}
for i = 1, #s do show("fr "..i, p.from_response_packet, s:sub(1,i), 0x88208) end
show("fr x", p.from_response_packet, s.."xyz", 0x88208) show("fr str", p.from_response_packet, s, "557576") show("fr tbl", p.from_response_packet, s, {}) show("fr -1", p.from_response_packet, s, -1)
local s = p.to_response_packet{server_capabilities=0, capabilities=0, database="d", response="r", username="u", auth_plugin_name="p"}
for i = 1, #s do show("fo "..i, p.from_response_packet, s:sub(1,i), 0x88208) end
show("fo ssl", p.from_response_packet, "\0\138\0\0\0\0\0\1\8"..("\0"):rep(23), 0x8a08) show("fo ssl", p.from_response_packet, "\0\10\0\0\0\0\0\1\8"..("\0"):rep(23), 0x8a08)
print("== mi")
local names={"master_lines","master_log_file","master_log_pos","master_host","master_user","master_password","master_port","master_connect_retry","master_ssl","master_ssl_ca","master_ssl_capath","master_ssl_cert","master_ssl_cipher","master_ssl_key","master_ssl_verify_server_cert"}
local t={} for i,n in ipairs(names) do t[n]=i end show("all", p.to_masterinfo_string, t) t.master_lines=15 show("all15", p.to_masterinfo_string, t) t.master_lines=14 show("all14", p.to_masterinfo_string, t) t.master_lines=20 show("all20", p.to_masterinfo_string, t)
for i, n in ipairs(names) do for _, v in ipairs{"x",true,{},"7",-3,1.5} do show(n.."="..quote(v), p.to_masterinfo_string, {[n]=v}) end end
