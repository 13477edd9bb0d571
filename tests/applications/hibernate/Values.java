import java.math.*;
import java.time.*;
import java.util.*;
import org.hibernate.SessionFactory;

/** A value of each type, written and read by another session, and found again by each field. */
final class Values {
    private static Entities.EveryType filled() {
        Entities.EveryType row = new Entities.EveryType();
        row.tiny = -128;
        row.small = -32768;
        row.whole = 1 << 30;
        row.big = Long.MIN_VALUE;
        row.single = 0.25f;
        row.twice = 1e-300;
        row.flag = true;
        row.letter = 'ß';
        row.text = "naïve 漢字 🐬";
        row.longer = "l".repeat(70000);
        row.clob = "clob \\ ' \" \n";
        row.bytes = new byte[] {0, 39, 92, -1};
        row.lob = new byte[] {1, 2, 3};
        row.exact = new BigDecimal("12345678901234.567890");
        row.great = new BigInteger("12345678901234567890123456789");
        row.day = LocalDate.of(2024, 2, 29);
        row.time = LocalTime.of(23, 59, 58);
        row.moment = LocalDateTime.of(2024, 2, 29, 12, 34, 56, 789012000);
        row.instant = Instant.parse("2001-09-09T01:46:40.123456Z");
        row.offset = OffsetDateTime.parse("2001-09-09T03:46:40+02:00");
        row.zoned = ZonedDateTime.parse("2001-09-09T01:46:40Z");
        row.duration = Duration.ofSeconds(90, 5);
        row.year = Year.of(2024);
        row.uuid = UUID.fromString("6fa459ea-ee8a-3ca4-894e-db77e160355e");
        row.named = Entities.Choice.THIRD;
        row.numbered = Entities.Choice.SECOND;
        row.document = new TreeMap<>(Map.of("deep", new TreeMap<>(Map.of("é", true)), "list", List.of(1, 2.5, "x")));
        row.list = List.of(3, 1, 2);
        row.words = new String[] {"one", "two"};
        row.national = "Ünï";
        return row;
    }

    private static String shown(Entities.EveryType row) {
        return String.join(" | ", List.of("" + row.tiny, "" + row.small, "" + row.whole, "" + row.big, "" + row.single, "" + row.twice, "" + row.flag, "" + row.letter, "" + row.text, "" + (row.longer == null ? null : row.longer.length()),
            "" + row.clob, Arrays.toString(row.bytes), Arrays.toString(row.lob), "" + row.exact, "" + row.great, "" + row.day, "" + row.time, "" + row.moment, "" + row.instant, "" + (row.offset == null ? null : row.offset.toInstant()),
            "" + (row.zoned == null ? null : row.zoned.toInstant()), "" + row.duration, "" + row.year, "" + row.uuid, "" + row.named, "" + row.numbered, "" + row.document, "" + row.list, Arrays.toString(row.words), "" + row.national, "" + row.label, "" + row.doubled, "" + (row.made != null)));
    }

    static void run(SessionFactory factory) {
        Entities.EveryType row = filled();
        Steps.step("a row of every type", () -> factory.inTransaction(session -> session.persist(row)));
        Steps.step("read it", () -> factory.fromTransaction(session -> shown(session.find(Entities.EveryType.class, row.id))));
        Steps.step("a row of nothing", () -> {
            Entities.EveryType empty = new Entities.EveryType();
            factory.inTransaction(session -> session.persist(empty));
            return factory.fromTransaction(session -> shown(session.find(Entities.EveryType.class, empty.id)));
        });
        Map<String, Object> found = new LinkedHashMap<>();
        found.put("tiny", row.tiny);
        found.put("big", row.big);
        found.put("twice", row.twice);
        found.put("flag", row.flag);
        found.put("letter", row.letter);
        found.put("text", row.text);
        found.put("bytes", row.bytes);
        found.put("exact", row.exact);
        found.put("great", row.great);
        found.put("day", row.day);
        found.put("time", row.time);
        found.put("moment", row.moment);
        found.put("instant", row.instant);
        found.put("duration", row.duration);
        found.put("year", row.year);
        found.put("uuid", row.uuid);
        found.put("named", row.named);
        found.put("numbered", row.numbered);
        found.put("national", row.national);
        for (var field : found.entrySet()) {
            Steps.step("find by " + field.getKey(), () -> factory.fromTransaction(session -> session.createSelectionQuery("select count(*) from EveryType where " + field.getKey() + " = :value", Long.class).setParameter("value", field.getValue()).getSingleResult()));
        }
        Steps.step("change and read", () -> {
            factory.inTransaction(session -> {
                Entities.EveryType changed = session.find(Entities.EveryType.class, row.id);
                changed.text = "changed";
                changed.whole = 21;
                changed.document.put("more", 1);
            });
            return factory.fromTransaction(session -> shown(session.find(Entities.EveryType.class, row.id)));
        });
        Steps.step("text too long", () -> Steps.refused(() -> factory.inTransaction(session -> {
            Entities.EveryType wrong = new Entities.EveryType();
            wrong.text = "x".repeat(51);
            session.persist(wrong);
        })));
        Steps.step("decimal too great", () -> Steps.refused(() -> factory.inTransaction(session -> {
            Entities.EveryType wrong = new Entities.EveryType();
            wrong.exact = new BigDecimal("123456789012345");
            session.persist(wrong);
        })));
    }

    private Values() {}
}
