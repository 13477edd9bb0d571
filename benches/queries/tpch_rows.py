"""Rows of the TPC-H-shaped schema: every function yields tuples in the order of schema/tpch.sql."""
import datetime

REGIONS = ["AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST"]
NATIONS = [("ALGERIA", 0), ("ARGENTINA", 1), ("BRAZIL", 1), ("CANADA", 1), ("EGYPT", 4), ("ETHIOPIA", 0), ("FRANCE", 3), ("GERMANY", 3),
           ("INDIA", 2), ("INDONESIA", 2), ("IRAN", 4), ("IRAQ", 4), ("JAPAN", 2), ("JORDAN", 4), ("KENYA", 0), ("MOROCCO", 0),
           ("MOZAMBIQUE", 0), ("PERU", 1), ("CHINA", 2), ("ROMANIA", 3), ("SAUDI ARABIA", 4), ("VIETNAM", 2), ("RUSSIA", 3),
           ("UNITED KINGDOM", 3), ("UNITED STATES", 1)]
COLOURS = ("almond azure beige black blue brown chocolate coral cream cyan dim forest gold green grey indigo ivory khaki lace lemon "
           "lime linen maroon mint navy olive orange orchid peach pink plum puff purple red rose salmon sienna sky slate snow steel "
           "tan thistle tomato violet wheat white yellow").split()
SIZES, FINISHES = ["STANDARD", "SMALL", "MEDIUM", "LARGE", "ECONOMY", "PROMO"], ["ANODIZED", "BURNISHED", "PLATED", "POLISHED", "BRUSHED"]
METALS = ["TIN", "NICKEL", "BRASS", "STEEL", "COPPER"]
BOX_SIZES, BOXES = ["SM", "LG", "MED", "JUMBO", "WRAP"], ["CASE", "BOX", "BAG", "JAR", "PKG", "PACK", "CAN", "DRUM"]
SEGMENTS = ["AUTOMOBILE", "BUILDING", "FURNITURE", "MACHINERY", "HOUSEHOLD"]
PRIORITIES = ["1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"]
INSTRUCTIONS = ["DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN"]
MODES = ["REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB"]
WORDS = ("quick slow careful bold final ironic regular even silent pending express unusual accounts deposits foxes packages ideas "
         "theories platelets pinto beans instructions asymptotes dolphins sleep wake haggle nag cajole detect above along the").split()
FIRST_DAY = datetime.date(1992, 1, 1)
ORDER_DAYS = (datetime.date(1998, 8, 2) - FIRST_DAY).days + 1
CURRENT_DAY = (datetime.date(1995, 6, 17) - FIRST_DAY).days
DATES = [str(FIRST_DAY + datetime.timedelta(days)) for days in range(ORDER_DAYS + 160)]


def cents(amount):
    return f"{'-' if amount < 0 else ''}{abs(amount) // 100}.{abs(amount) % 100:02}"


def words(dice, count):
    return " ".join(dice.pick(WORDS) for _ in range(count))


def phone(dice, nation):
    return f"{nation + 10}-{dice.between(100, 999)}-{dice.between(100, 999)}-{dice.between(1000, 9999)}"


def retail_cents(part):
    return 90000 + part // 10 % 20001 + 100 * (part % 1000)


def supplier_of(part, which, suppliers):
    """The `which`th of the four suppliers of a part: they differ, and a line's supplier has the part."""
    return (part + which * (suppliers // 4 + (part - 1) // suppliers)) % suppliers + 1


def region(dice, counts):
    for key, name in enumerate(REGIONS):
        yield key, name, words(dice, 5)


def nation(dice, counts):
    for key, (name, where) in enumerate(NATIONS):
        yield key, name, where, words(dice, 5)


def supplier(dice, counts):
    for key in range(1, counts["supplier"] + 1):
        home = (key * 7 + key // 25) % 25
        # Two in a hundred, so that q16 leaves out somebody at every scale.
        note = f"{words(dice, 2)} Customer {words(dice, 2)} Complaints" if dice.between(1, 50) == 1 else words(dice, 6)
        yield key, f"Supplier#{key:09}", words(dice, 3), home, phone(dice, home), cents(dice.between(-99999, 999999)), note


def part(dice, counts):
    for key in range(1, counts["part"] + 1):
        maker = dice.between(1, 5)
        kind = f"{dice.pick(SIZES)} {dice.pick(FINISHES)} {dice.pick(METALS)}"
        yield (key, " ".join(dice.pick(COLOURS) for _ in range(5)), f"Manufacturer#{maker}", f"Brand#{maker}{dice.between(1, 5)}", kind,
               dice.between(1, 50), f"{dice.pick(BOX_SIZES)} {dice.pick(BOXES)}", cents(retail_cents(key)), words(dice, 2)[:23])


def partsupp(dice, counts):
    for key in range(1, counts["part"] + 1):
        for which in range(4):
            yield (key, supplier_of(key, which, counts["supplier"]), dice.between(1, 9999), cents(dice.between(100, 100000)), words(dice, 8))


def customer(dice, counts):
    for key in range(1, counts["customer"] + 1):
        home = dice.between(0, 24)
        yield (key, f"Customer#{key:09}", words(dice, 3), home, phone(dice, home), cents(dice.between(-99999, 999999)),
               dice.pick(SEGMENTS), words(dice, 7))


def order_key(number):
    """Of 32 keys the first 8 are used."""
    return (number - 1) // 8 * 32 + (number - 1) % 8 + 1


def lines(dice, counts, order, day):
    """The lines of an order, and its price in cents."""
    total, rows = 0, []
    for number in range(1, dice.between(1, 7) + 1):
        key, quantity = dice.between(1, counts["part"]), dice.between(1, 50)
        price, discount, tax = quantity * retail_cents(key), dice.between(0, 10), dice.between(0, 8)
        shipped, committed = day + dice.between(1, 121), day + dice.between(30, 90)
        received = shipped + dice.between(1, 30)
        flag = dice.pick("RA") if received <= CURRENT_DAY else "N"
        total += price * (100 + tax) * (100 - discount) // 10000
        rows.append((order, key, supplier_of(key, dice.between(0, 3), counts["supplier"]), number, quantity, cents(price), cents(discount),
                     cents(tax), flag, "O" if shipped > CURRENT_DAY else "F", DATES[shipped], DATES[committed], DATES[received],
                     dice.pick(INSTRUCTIONS), dice.pick(MODES), words(dice, 3)))
    return total, rows


def orders_with_lines(dice, counts):
    """Pairs of an order's row and its lines' rows."""
    for number in range(1, counts["orders"] + 1):
        order, day = order_key(number), dice.between(0, ORDER_DAYS - 1)
        # A third of the customers never order: q13 and q22 ask for them.
        buyer = dice.between(1, counts["customer"])
        buyer -= buyer % 3 == 0
        total, rows = lines(dice, counts, order, day)
        open_lines = sum(row[9] == "O" for row in rows)
        status = "F" if open_lines == 0 else "O" if open_lines == len(rows) else "P"
        note = f"{words(dice, 2)} special {words(dice, 1)} requests" if dice.between(1, 40) == 1 else words(dice, 5)
        yield (order, buyer, status, cents(total), DATES[day], dice.pick(PRIORITIES),
               f"Clerk#{dice.between(1, max(1, counts['orders'] // 1500)):09}", 0, note), rows


def counts_at(scale):
    whole = {"supplier": 10000, "part": 200000, "customer": 150000, "orders": 1500000}
    return {name: max(10, round(rows * scale)) for name, rows in whole.items()}
