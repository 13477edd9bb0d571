import java.sql.*;
import java.util.*;
import java.util.concurrent.Callable;

/**
 * A program is a list of steps. Each prints one line: `passed`, its name and what it saw, or `failed`, its name and the
 * error; run.py compares the lines of two servers, so what is seen must not depend on the moment.
 */
public final class Steps {
    static final String HOST = System.getenv("APPLICATION_HOST"), PORT = System.getenv("APPLICATION_PORT");
    static final String PARAMETERS = "?sslMode=DISABLED&allowPublicKeyRetrieval=true&connectionTimeZone=UTC&characterEncoding=UTF-8";
    private static final java.io.PrintStream OUT = new java.io.PrintStream(new java.io.FileOutputStream(java.io.FileDescriptor.out), true, java.nio.charset.StandardCharsets.UTF_8);

    interface Body {
        void run(Connection connection) throws Exception;
    }

    interface Action {
        void run() throws Exception;
    }

    static String url(String schema) {
        return "jdbc:mysql://" + HOST + ":" + PORT + "/" + schema + PARAMETERS;
    }

    static void step(String name, Callable<?> action) {
        try {
            Object seen = action.call();
            OUT.println("passed\t" + name + "\t" + line(String.valueOf(seen)));
        } catch (Throwable error) {
            OUT.println("failed\t" + name + "\t" + line(described(error)));
            if (System.getenv("APPLICATION_TRACE") != null) error.printStackTrace();
        }
    }

    static void step(String name, Action action) {
        step(name, () -> {
            action.run();
            return "done";
        });
    }

    /** For what the server must refuse: the refusal is what the step sees. */
    static String refused(Action action) throws Exception {
        try {
            action.run();
        } catch (Exception error) {
            return described(error);
        }
        throw new IllegalStateException("was not refused");
    }

    /** What the server says of an error, below what the library wrapped it in. */
    static String described(Throwable error) {
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            if (cause instanceof SQLException server && server.getErrorCode() != 0) {
                return server.getErrorCode() + " " + server.getSQLState() + " " + server.getMessage();
            }
        }
        return error.getClass().getName() + ": " + error.getMessage();
    }

    private static String line(String text) {
        return text.replace("\\", "\\\\").replace("\r", "").replace("\n", "\\n").replace("\t", "\\t");
    }

    /** The rows of a query, each a list of texts. */
    static List<List<String>> rows(Connection connection, String query) throws SQLException {
        List<List<String>> rows = new ArrayList<>();
        try (Statement statement = connection.createStatement(); ResultSet result = statement.executeQuery(query)) {
            while (result.next()) rows.add(texts(result));
        }
        return rows;
    }

    static List<String> texts(ResultSet result) throws SQLException {
        List<String> texts = new ArrayList<>();
        for (int column = 1; column <= result.getMetaData().getColumnCount(); column++) texts.add(result.getString(column));
        return texts;
    }

    static void execute(Connection connection, String... texts) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            for (String text : texts) statement.execute(text);
        }
    }

    /** One step for each table and view of the schema: its definition as the server writes it. */
    static void definitions(Connection connection, String stage) throws SQLException {
        for (List<String> table : rows(connection, "SHOW FULL TABLES")) {
            String kind = table.get(1).equals("VIEW") ? "VIEW" : "TABLE";
            step(stage + ": SHOW CREATE " + table.get(0), () -> rows(connection, "SHOW CREATE " + kind + " `" + table.get(0) + "`").get(0).get(1));
        }
    }

    /** Makes the program's schemas anew, runs it in the first, and drops them. */
    static void program(Body body, String... schemas) throws Exception {
        try (Connection connection = DriverManager.getConnection(url(""), "root", "")) {
            for (String schema : schemas) execute(connection, "DROP DATABASE IF EXISTS " + schema, "CREATE DATABASE " + schema + " CHARACTER SET utf8mb4");
            connection.setCatalog(schemas[0]);
            try {
                body.run(connection);
            } finally {
                for (String schema : schemas) execute(connection, "DROP DATABASE IF EXISTS " + schema);
            }
        }
        System.exit(0);
    }
}
