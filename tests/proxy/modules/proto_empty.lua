-- Packets of empty tables; arguments of wrong types.
local p = require("mysql.proto")
for _, n in ipairs{"challenge","response","ok","err","eof"} do local t, f = p["to_"..n.."_packet"], p["from_"..n.."_packet"]
  print("== "..n)
  show("to none", t) show("to num", t, 5) show("to str", t, "x") show("to {}", t, {})
  if n ~= "response" then show("rt", function() return f(t{}) end) end
  show("from none", f) show("from nil", f, nil) show("from num", f, 5) show("from empty", f, "") show("from x", f, "x") show("from {}", f, {})
end
