import java.io.*;
import java.sql.Connection;
import java.util.*;
import liquibase.*;
import liquibase.database.*;
import liquibase.diff.*;
import liquibase.diff.compare.CompareControl;
import liquibase.diff.output.DiffOutputControl;
import liquibase.diff.output.changelog.DiffToChangeLog;
import liquibase.snapshot.*;
import liquibase.structure.DatabaseObject;
import liquibase.structure.core.*;

/** What Liquibase reads of a schema (snapshot), writes of it (generateChangeLog) and finds different between two (diff). */
final class Differences {
    static void run(Connection connection) throws Exception {
        for (Class<? extends DatabaseObject> kind : List.of(Table.class, Column.class, PrimaryKey.class, Index.class, UniqueConstraint.class, ForeignKey.class, View.class)) {
            Steps.step("snapshot of each " + kind.getSimpleName(), () -> Main.with(Main.SCHEMA, "changelog.xml", liquibase -> snapshot(liquibase, kind)));
        }
        Steps.step("change log of a schema", () -> Main.with(Main.SCHEMA, "changelog.xml", liquibase -> other(liquibase, empty -> changeLog(liquibase, empty))));
        Steps.step("diff with an empty schema", () -> Main.with(Main.SCHEMA, "changelog.xml", Differences::difference));
        Steps.step("copy by update", () -> Main.with(Main.OTHER, "changelog.xml", liquibase -> {
            liquibase.update(new Contexts(), new LabelExpression());
            return "done";
        }));
        Steps.step("diff with a copy", () -> Main.with(Main.SCHEMA, "changelog.xml", Differences::difference));
        Steps.execute(connection, "ALTER TABLE " + Main.OTHER + ".city DROP COLUMN area, MODIFY name VARCHAR(200) NULL, ADD surplus INT", "DROP VIEW " + Main.OTHER + ".capitals",
            "ALTER TABLE " + Main.OTHER + ".street DROP FOREIGN KEY street_city, DROP INDEX street_name");
        Steps.step("diff with a changed copy", () -> Main.with(Main.SCHEMA, "changelog.xml", Differences::difference));
        Steps.step("change log of a difference", () -> Main.with(Main.SCHEMA, "changelog.xml", liquibase -> other(liquibase, other -> changeLog(liquibase, other))));
        Steps.step("dropAll of the copy", () -> Main.with(Main.OTHER, "changelog.xml", liquibase -> {
            liquibase.dropAll();
            return Steps.rows(connection, "SHOW TABLES FROM " + Main.OTHER);
        }));
    }

    private interface Comparison {
        Object run(Database other) throws Exception;
    }

    private static Object other(Liquibase liquibase, Comparison comparison) throws Exception {
        return Main.with(Main.OTHER, "changelog.xml", other -> comparison.run(other.getDatabase()));
    }

    private static List<String> snapshot(Liquibase liquibase, Class<? extends DatabaseObject> kind) throws Exception {
        Database database = liquibase.getDatabase();
        DatabaseSnapshot snapshot = SnapshotGeneratorFactory.getInstance().createSnapshot(database.getDefaultSchema(), database, new SnapshotControl(database));
        List<String> seen = new ArrayList<>();
        for (DatabaseObject object : snapshot.get(kind)) {
            StringBuilder attributes = new StringBuilder(object.toString());
            for (String attribute : new TreeSet<>(object.getAttributes())) {
                Object value = object.getAttribute(attribute, Object.class);
                if (value instanceof DatabaseObject || value instanceof Collection) value = value.toString();
                attributes.append(' ').append(attribute).append('=').append(value);
            }
            seen.add(attributes.toString());
        }
        Collections.sort(seen);
        return seen;
    }

    private static Object difference(Liquibase liquibase) throws Exception {
        return other(liquibase, other -> {
            DiffResult result = liquibase.diff(liquibase.getDatabase(), other, new CompareControl());
            List<String> seen = new ArrayList<>();
            for (var object : result.getMissingObjects()) seen.add("missing " + object.getClass().getSimpleName() + " " + object);
            for (var object : result.getUnexpectedObjects()) seen.add("unexpected " + object.getClass().getSimpleName() + " " + object);
            for (var object : result.getChangedObjects().entrySet()) object.getValue().getDifferences().forEach(one -> seen.add("changed " + object.getKey() + " " + one));
            Collections.sort(seen);
            return seen;
        });
    }

    /** The change log that would make of another schema what this one is, without ids and authors. */
    private static String changeLog(Liquibase liquibase, Database other) throws Exception {
        Database database = liquibase.getDatabase();
        ByteArrayOutputStream written = new ByteArrayOutputStream();
        PrintStream stream = new PrintStream(written, true, "UTF-8");
        DiffOutputControl control = new DiffOutputControl(false, false, false, new CompareControl.SchemaComparison[0]);
        new DiffToChangeLog(liquibase.diff(database, other, new CompareControl()), control).print(stream);
        return written.toString("UTF-8").replaceAll("(id|author)=\"[^\"]*\"", "");
    }
}
