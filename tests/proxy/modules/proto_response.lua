-- The answer of a client for pairs of capabilities.
local p = require("mysql.proto")
local t = p.to_response_packet
print("== response")
for _, f in ipairs{"server_capabilities","capabilities","max_packet_size","charset","username","response","database","auth_plugin_name","auth_plugin_response","client_capabilities","user","password","challenge","scrambled_password","auth_data","attributes"} do for _, v in ipairs{7, -1, 300, 70000, 2^33, 1.7, "abc", "5", "", true, {}} do
    local base = {server_capabilities=0xfffff}
    if f == "server_capabilities" then base = {} end
    base[f]=v show("to response "..f.."="..quote(v), t, base) end end 
for _, sc in ipairs{0,512,0x8200,0x8208,0x88208,0xfffff} do for _, c in ipairs{0,512,8,0x208,0x8208,0x8000,0x80000,0x88200,0x8a20d,0x20000} do
 show(("sc=%x c=%x"):format(sc,c), t, {server_capabilities=sc, capabilities=c, username="u", response="r", database="d", auth_plugin_name="p", charset=8, max_packet_size=100})
 local ok, s = pcall(t, {server_capabilities=sc, capabilities=c, username="u", response="r", database="d", auth_plugin_name="p", charset=8, max_packet_size=100})
 if ok then show("  from", p.from_response_packet, s, sc) end
end end
