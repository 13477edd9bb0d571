import java.nio.file.*;
import java.sql.Connection;
import java.util.*;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.*;
import org.flywaydb.core.api.configuration.FluentConfiguration;

/** Flyway: versioned and repeatable migrations, placeholders, callbacks, info, validate, repair after a failure, baseline, clean. */
public final class Main {
    private static final String SCHEMA = "applications_flyway", OTHER = "applications_flyway_2", THIRD = "applications_flyway_3";
    private static Path folder;

    public static void main(String[] arguments) throws Exception {
        folder = Files.createTempDirectory("flyway-");
        Steps.program(connection -> {
            Migrations.write(folder, Migrations.FIRST);
            migrate(connection);
            validate(connection);
            fail(connection);
            outOfOrder();
            baseline(connection);
            clean(connection);
        }, SCHEMA, OTHER, THIRD);
    }

    private static FluentConfiguration configuration() {
        return Flyway.configure().dataSource(Steps.url(SCHEMA), "root", "").locations("filesystem:" + folder).placeholders(Map.of("kind", "gold")).cleanDisabled(false).connectRetries(0);
    }

    private static List<String> info(FluentConfiguration configuration) {
        List<String> seen = new ArrayList<>();
        for (MigrationInfo info : configuration.load().info().all()) seen.add(info.getVersion() + " " + info.getDescription() + " " + info.getType() + " " + info.getState() + " " + info.getChecksum());
        return seen;
    }

    private static List<List<String>> history(Connection connection) throws Exception {
        return Steps.rows(connection, "SELECT installed_rank, version, description, type, script, checksum, installed_by, success FROM flyway_schema_history ORDER BY installed_rank");
    }

    private static void migrate(Connection connection) throws Exception {
        Steps.step("info before", () -> info(configuration()));
        Steps.step("migrate to 2", () -> configuration().target("2").load().migrate().migrationsExecuted);
        Steps.definitions(connection, "at 2");
        Steps.step("migrate", () -> configuration().load().migrate().migrationsExecuted);
        Steps.definitions(connection, "migrated");
        Steps.step("info after", () -> info(configuration()));
        Steps.step("history", () -> history(connection));
        Steps.step("rows of migrations", () -> Steps.rows(connection, "SELECT * FROM every_type ORDER BY id"));
        Steps.step("rows of the view", () -> Steps.rows(connection, "SELECT * FROM owners ORDER BY name, card"));
        Steps.step("migrate again", () -> configuration().load().migrate().migrationsExecuted);
    }

    private static void validate(Connection connection) {
        Steps.step("validate", () -> configuration().load().validate());
        Steps.step("a repeatable migration that changed", () -> {
            Migrations.write(folder, Map.of("R__owners.sql", "CREATE OR REPLACE VIEW owners AS SELECT p.name, COUNT(*) AS card FROM people p JOIN cards c ON c.person = p.id GROUP BY p.name;\n"));
            return List.of(info(configuration()), configuration().load().migrate().migrationsExecuted, Steps.rows(connection, "SHOW CREATE VIEW owners").get(0).get(1));
        });
        Steps.step("a changed migration", () -> {
            Migrations.append(folder, "V2__cards.sql", "-- changed\n");
            return List.of(configuration().load().validateWithResult().validationSuccessful, configuration().load().validateWithResult().invalidMigrations.size());
        });
        Steps.step("repair of the checksum", () -> {
            var result = configuration().load().repair();
            return List.of(result.repairActions, result.migrationsAligned.size(), configuration().load().validateWithResult().validationSuccessful);
        });
    }

    private static void fail(Connection connection) {
        Steps.step("a migration that fails half way", () -> {
            Migrations.write(folder, Map.of("V5__fails.sql", "CREATE TABLE half (id INT);\nINSERT INTO nowhere VALUES (1);\n"));
            return Steps.refused(() -> configuration().load().migrate());
        });
        Steps.step("what it left", () -> List.of(Steps.rows(connection, "SHOW TABLES LIKE 'half'"), history(connection), info(configuration())));
        Steps.step("migrate refuses", () -> {
            try {
                return configuration().load().migrate().migrationsExecuted;
            } catch (FlywayException error) {
                return error.getClass().getSimpleName();
            }
        });
        Steps.step("repair of the failure", () -> {
            Migrations.write(folder, Map.of("V5__fails.sql", "DROP TABLE IF EXISTS half;\nINSERT INTO people (name) VALUES ('Gus');\n"));
            var result = configuration().load().repair();
            return List.of(result.migrationsRemoved.size(), configuration().load().migrate().migrationsExecuted);
        });
        Steps.step("a migration that is rolled back", () -> {
            Migrations.write(folder, Map.of("V6__rows.sql", "INSERT INTO people (name) VALUES ('Hal');\nINSERT INTO people (name) VALUES ('Ann');\n"));
            String refusal = Steps.refused(() -> configuration().load().migrate());
            return List.of(refusal, Steps.rows(connection, "SELECT COUNT(*) FROM people WHERE name = 'Hal'"));
        });
        Steps.step("repair once more", () -> {
            Migrations.write(folder, Map.of("V6__rows.sql", "INSERT INTO people (name) VALUES ('Ida');\n"));
            configuration().load().repair();
            return configuration().load().migrate().migrationsExecuted;
        });
    }

    private static void outOfOrder() {
        Steps.step("a migration before the last", () -> {
            Migrations.write(folder, Map.of("V5.1__between.sql", "ALTER TABLE people ADD nickname VARCHAR(20);\n"));
            return List.of(configuration().load().validateWithResult().validationSuccessful, configuration().outOfOrder(true).load().migrate().migrationsExecuted, info(configuration().outOfOrder(true)));
        });
    }

    private static void baseline(Connection connection) {
        FluentConfiguration other = Flyway.configure().dataSource(Steps.url(OTHER), "root", "").locations("filesystem:" + folder).placeholders(Map.of("kind", "plain")).cleanDisabled(false).baselineVersion("1").table("versions");
        Steps.step("a schema that is not empty", () -> {
            Steps.execute(connection, "CREATE TABLE " + OTHER + ".people (id INT UNSIGNED PRIMARY KEY AUTO_INCREMENT, name VARCHAR(80) NOT NULL UNIQUE) CHARACTER SET utf8mb4",
                "INSERT INTO " + OTHER + ".people (name) VALUES ('Ann'), ('Bob')");
            try {
                return other.load().migrate().migrationsExecuted;
            } catch (FlywayException error) {
                return error.getMessage().replaceAll("\\s+", " ");
            }
        });
        Steps.step("baseline", () -> List.of(other.load().baseline().successfullyBaselined, info(other)));
        Steps.step("baseline on migrate", () -> other.baselineOnMigrate(true).target("2").load().migrate().migrationsExecuted);
        Steps.step("clean of the other schema", () -> List.of(other.load().clean().schemasCleaned, Steps.rows(connection, "SHOW TABLES FROM " + OTHER)));
    }

    private static void clean(Connection connection) {
        Steps.step("schemas that flyway makes", () -> {
            Steps.execute(connection, "DROP DATABASE " + THIRD);
            Flyway flyway = Flyway.configure().dataSource(Steps.url(""), "root", "").schemas(THIRD).locations("filesystem:" + folder).placeholders(Map.of("kind", "plain")).cleanDisabled(false).load();
            int made = flyway.migrate().migrationsExecuted;
            flyway.clean();
            return List.of(made, Steps.rows(connection, "SHOW DATABASES LIKE '" + THIRD + "'"));
        });
        Steps.step("clean", () -> configuration().load().clean().schemasCleaned);
        Steps.step("what is left", () -> Steps.rows(connection, "SHOW TABLES FROM " + SCHEMA));
    }
}
