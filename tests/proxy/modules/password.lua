-- Digests, and arguments of wrong types and lengths.
local p = require("mysql.proto") local w = require("mysql.password")
show("hash", w.hash, "abc") show("hash0", w.hash, "") show("hashn", w.hash) show("hashnum", w.hash, 5)
local h = w.hash("secret") local hh = w.hash(h)
local c = "01234567890123456789"
local s = w.scramble(c, h)
show("scr", w.scramble, c, h) show("scr0", w.scramble, c, "") show("scrbad", w.scramble, "short", h) show("scrbad2", w.scramble, c, "short") show("scr3", w.scramble, c) show("scr4", w.scramble) show("scr21", w.scramble, c.."\0", h) show("scr22", w.scramble, "", h)
show("unscr", w.unscramble, c, s, hh) show("unscrbad", w.unscramble, c, "x", hh) show("unscrbad2", w.unscramble, c, s, "x") show("unscr1", w.unscramble, c) show("unscrbad3", w.unscramble, "c", s, hh) show("un0", w.unscramble)
show("check", w.check, c, s, hh) show("checkbad", w.check, c, s, h) show("check1", w.check, c, "x", hh) show("check2", w.check, c, s, "x") show("check3", w.check) show("check4", w.check, c) show("check5", w.check, c, s) show("check6", w.check, "c", s, hh) show("check7",w.check,c,"","") show("check8",w.check,c,"",hh)
show("eq", function() return w.unscramble(c,s,hh)==h end)
