import java.sql.Connection;
import java.util.*;
import liquibase.*;
import liquibase.database.*;
import liquibase.database.jvm.JdbcConnection;
import liquibase.resource.*;

/** Liquibase: a change log of every common change, what it would do, tags and rollback, snapshots, differences, dropAll. */
public final class Main {
    static final String SCHEMA = "applications_liquibase", OTHER = "applications_liquibase_2";

    interface Work {
        Object run(Liquibase liquibase) throws Exception;
    }

    public static void main(String[] arguments) throws Exception {
        java.util.logging.LogManager.getLogManager().reset();
        Steps.program(connection -> {
            update(connection);
            Differences.run(connection);
            rollBack(connection);
            drop(connection);
        }, SCHEMA, OTHER);
    }

    /** A connection of its own for each piece of work, as each run of the command line has. */
    static Object with(String schema, String changeLog, Work work) throws Exception {
        try (Connection own = java.sql.DriverManager.getConnection(Steps.url(schema), "root", "")) {
            Database database = DatabaseFactory.getInstance().findCorrectDatabaseImplementation(new JdbcConnection(own));
            try (Liquibase liquibase = new Liquibase(changeLog, new ClassLoaderResourceAccessor(), database)) {
                liquibase.setShowSummary(UpdateSummaryEnum.OFF);
                return work.run(liquibase);
            }
        }
    }

    private static Object with(Work work) throws Exception {
        return with(SCHEMA, "changelog.xml", work);
    }

    private static List<String> unrun(Liquibase liquibase) throws Exception {
        return liquibase.listUnrunChangeSets(new Contexts(), new LabelExpression()).stream().map(change -> change.getId()).toList();
    }

    /** The statements that would run, without the moments and sums that differ at each run. */
    private static String statements(java.io.StringWriter written) {
        return String.join("\n", written.toString().lines().filter(line -> !line.isBlank() && !line.startsWith("--") && !line.contains("DATABASECHANGELOG")).toList());
    }

    private static void update(Connection connection) throws Exception {
        Steps.step("unrun before", () -> with(liquibase -> unrun(liquibase)));
        Steps.step("what update would do", () -> with(liquibase -> {
            var written = new java.io.StringWriter();
            liquibase.update(new Contexts(), new LabelExpression(), written);
            return statements(written);
        }));
        Steps.step("validate", () -> with(liquibase -> {
            liquibase.validate();
            return "valid";
        }));
        Steps.step("update to a tag", () -> with(liquibase -> {
            liquibase.update("made", new Contexts(), new LabelExpression());
            return unrun(liquibase);
        }));
        Steps.definitions(connection, "made");
        Steps.step("update", () -> with(liquibase -> {
            liquibase.update(new Contexts(), new LabelExpression());
            return unrun(liquibase);
        }));
        Steps.definitions(connection, "updated");
        Steps.step("change sets", () -> Steps.rows(connection, "SELECT id, author, orderexecuted, exectype, md5sum, description, comments, tag FROM DATABASECHANGELOG ORDER BY orderexecuted"));
        Steps.step("lock", () -> Steps.rows(connection, "SELECT id, locked, lockedby FROM DATABASECHANGELOGLOCK"));
        Steps.step("rows", () -> Steps.rows(connection, "SELECT id, name, country, founded, capital, area, head FROM city ORDER BY id"));
        Steps.step("rows of every type", () -> Steps.rows(connection, "SELECT * FROM every_type ORDER BY id"));
        Steps.step("rows of the view", () -> Steps.rows(connection, "SELECT * FROM capitals ORDER BY name"));
        Steps.step("update again", () -> with(liquibase -> {
            liquibase.update(new Contexts(), new LabelExpression());
            return Steps.rows(connection, "SELECT COUNT(*) FROM DATABASECHANGELOG");
        }));
        Steps.step("a change that fails", () -> with(SCHEMA, "failing.xml", liquibase -> Steps.refused(() -> liquibase.update(new Contexts(), new LabelExpression()))));
        Steps.step("what it left", () -> List.of(Steps.rows(connection, "SELECT COUNT(*) FROM city WHERE name = 'Nowhere'"), Steps.rows(connection, "SELECT locked FROM DATABASECHANGELOGLOCK")));
    }

    private static void rollBack(Connection connection) throws Exception {
        Steps.step("what rollback would do", () -> with(liquibase -> {
            var written = new java.io.StringWriter();
            liquibase.rollback("made", new Contexts(), new LabelExpression(), written);
            return statements(written);
        }));
        Steps.step("rollback of one", () -> with(liquibase -> {
            liquibase.rollback(1, new Contexts(), new LabelExpression());
            return unrun(liquibase);
        }));
        Steps.step("rollback to a tag", () -> with(liquibase -> {
            liquibase.rollback("made", new Contexts(), new LabelExpression());
            return unrun(liquibase);
        }));
        Steps.definitions(connection, "rolled back");
        Steps.step("update with tests of rollback", () -> with(liquibase -> {
            liquibase.updateTestingRollback(new Contexts(), new LabelExpression());
            return unrun(liquibase);
        }));
        Steps.step("sums are cleared and made anew", () -> with(liquibase -> {
            liquibase.clearCheckSums();
            liquibase.update(new Contexts(), new LabelExpression());
            return Steps.rows(connection, "SELECT COUNT(md5sum) FROM DATABASECHANGELOG");
        }));
    }

    private static void drop(Connection connection) {
        Steps.step("dropAll", () -> with(liquibase -> {
            liquibase.dropAll();
            return Steps.rows(connection, "SHOW TABLES FROM " + SCHEMA);
        }));
    }
}
