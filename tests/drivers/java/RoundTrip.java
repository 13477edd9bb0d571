// Typed round trip through Connector/J: text protocol by client-side, binary by server-side prepared statements.
// The types come as a tab-separated file (argument 1), so that no JSON library is needed.
import java.nio.file.*;
import java.sql.*;
import java.util.*;

public class RoundTrip {
    static Connection open(String user, boolean tls, boolean server) throws SQLException {
        String url = "jdbc:mysql://" + System.getenv("DB_HOST") + ":" + System.getenv("DB_PORT") + "/?sslMode="
            + (tls ? "REQUIRED" : "DISABLED") + "&allowPublicKeyRetrieval=true&useServerPrepStmts=" + server
            + "&yearIsDateType=false&noDatetimeStringSync=true&tinyInt1isBit=false&connectionTimeZone=UTC&zeroDateTimeBehavior=EXCEPTION";
        return DriverManager.getConnection(url, user, "secret");
    }

    static void roundTrip(Connection[] ways, String type, String literal) throws Exception {
        try (Statement statement = ways[0].createStatement()) {
            statement.execute("DROP TABLE IF EXISTS drivers.t");
            statement.execute("CREATE TABLE drivers.t (id INT PRIMARY KEY, c " + type + ")");
            statement.execute("INSERT INTO drivers.t VALUES (1, " + literal + ")");
        }
        for (int way = 0; way < ways.length; way++) {
            Object value;
            try (PreparedStatement read = ways[way].prepareStatement("SELECT c FROM drivers.t WHERE id = ?")) {
                read.setInt(1, 1);
                try (ResultSet rows = read.executeQuery()) {
                    rows.next();
                    // java.sql.Time has no fraction and java.sql.Date shifts old dates: take them as text.
                    boolean asText = type.startsWith("TIME") || type.startsWith("DATE");
                    value = asText ? rows.getString(1) : rows.getObject(1);
                }
            }
            try (PreparedStatement write = ways[way].prepareStatement("INSERT INTO drivers.t VALUES (?, ?)")) {
                write.setInt(1, way + 2);
                write.setObject(2, value);
                write.executeUpdate();
            }
        }
        try (Statement statement = ways[0].createStatement(); ResultSet rows = statement.executeQuery(
                "SELECT COUNT(*) FROM drivers.t a JOIN drivers.t b ON b.id = 1 WHERE a.c <=> b.c")) {
            rows.next();
            if (rows.getInt(1) != 3) throw new Exception(rows.getInt(1) + " of 3 rows equal");
        }
    }

    public static void main(String[] arguments) throws Exception {
        List<String> types = Files.readAllLines(Path.of(arguments[0]));
        int passed = 0, failed = 0;
        for (String account : System.getenv("DB_ACCOUNTS").split(",")) {
            String user = account.split(":")[0], plugin = account.split(":")[1];
            for (boolean tls : new boolean[] {true, false}) {
                Connection[] ways;
                try {
                    ways = new Connection[] {open(user, tls, false), open(user, tls, true)};
                    passed++;
                } catch (SQLException error) {
                    failed++;
                    System.out.println("Connector/J " + plugin + " tls=" + tls + ": " + error);
                    continue;
                }
                for (String line : types) {
                    String[] row = line.split("\t", 2);
                    try {
                        roundTrip(ways, row[0], row[1]);
                        passed++;
                    } catch (Exception error) {
                        failed++;
                        System.out.printf("Connector/J %s tls=%b %s %.40s: %s%n", plugin, tls, row[0], row[1], error);
                    }
                }
                for (Connection way : ways) way.close();
            }
        }
        System.out.println("Connector/J: " + passed + " passed, " + failed + " failed");
        System.exit(failed > 0 ? 1 : 0);
    }
}
