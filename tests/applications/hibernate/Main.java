import java.sql.Connection;
import java.util.*;
import org.hibernate.SessionFactory;
import org.hibernate.boot.*;
import org.hibernate.boot.registry.*;
import org.hibernate.engine.config.spi.ConfigurationService;
import org.hibernate.tool.schema.spi.SchemaManagementToolCoordinator;

/** Hibernate: its schema tool (create, validate, update, truncate, drop), entities of every type, HQL, locks, bulk and batch changes. */
public final class Main {
    private static final String SCHEMA = "applications_hibernate";
    private static StandardServiceRegistry registry;
    private static Metadata metadata;

    public static void main(String[] arguments) throws Exception {
        java.util.logging.LogManager.getLogManager().reset();
        Steps.program(connection -> {
            registry = new StandardServiceRegistryBuilder().applySettings(settings()).build();
            metadata = metadata();
            create(connection);
            try (SessionFactory factory = metadata.buildSessionFactory()) {
                Values.run(factory);
                Queries.run(factory);
                Changes.run(factory);
                Transactions.run(factory);
                Steps.step("truncate", () -> {
                    factory.getSchemaManager().truncateMappedObjects();
                    return Steps.rows(connection, "SELECT COUNT(*) FROM Book");
                });
                Steps.step("validate by the factory", () -> factory.getSchemaManager().validateMappedObjects());
                drop(connection);
            }
        }, SCHEMA);
    }

    private static Properties settings() {
        Properties settings = new Properties();
        settings.put("hibernate.connection.url", Steps.url(SCHEMA));
        settings.put("hibernate.connection.username", "root");
        settings.put("hibernate.connection.password", "");
        settings.put("hibernate.connection.pool_size", "8");
        settings.put("hibernate.jdbc.batch_size", "20");
        settings.put("hibernate.jdbc.time_zone", "UTC");
        settings.put("hibernate.order_inserts", "true");
        settings.put("hibernate.hbm2ddl.auto", "none");
        settings.put("hibernate.query.hql.json_functions_enabled", "true");
        return settings;
    }

    private static Metadata metadata() {
        MetadataSources sources = new MetadataSources(registry);
        for (Class<?> entity : Entities.ALL) sources.addAnnotatedClass(entity);
        return sources.buildMetadata();
    }

    /** Runs the schema tool as its settings say, and gives the statements of its script. */
    private static List<String> act(Map<String, Object> more) throws Exception {
        Map<String, Object> settings = new HashMap<>(registry.requireService(ConfigurationService.class).getSettings());
        settings.put("hibernate.hbm2ddl.halt_on_error", true);
        var file = java.nio.file.Files.createTempFile("hibernate", ".sql");
        settings.put("jakarta.persistence.schema-generation.scripts.create-target", file.toString());
        settings.put("jakarta.persistence.schema-generation.scripts.drop-target", file.toString());
        settings.putAll(more);
        SchemaManagementToolCoordinator.process(metadata, registry, settings, action -> {});
        return java.nio.file.Files.readAllLines(file);
    }

    private static List<String> script(String action) throws Exception {
        return act(Map.of("hibernate.hbm2ddl.auto", "none", "jakarta.persistence.schema-generation.scripts.action", action));
    }

    private static void database(String action) throws Exception {
        act(Map.of("hibernate.hbm2ddl.auto", action));
    }

    private static void create(Connection connection) throws Exception {
        Steps.step("what create would do", () -> script("create"));
        Steps.step("create", () -> database("create-only"));
        Steps.definitions(connection, "created");
        Steps.step("validate", () -> database("validate"));
        Steps.step("what update would do", () -> script("update"));
        Map<String, String> changes = new LinkedHashMap<>();
        changes.put("a column less", "ALTER TABLE Book DROP COLUMN subtitle");
        changes.put("another type", "ALTER TABLE Book MODIFY pages BIGINT");
        changes.put("an index less", "ALTER TABLE Book DROP INDEX book_title");
        changes.put("a table less", "DROP TABLE Book_words");
        changes.put("a key less", "ALTER TABLE Publication DROP FOREIGN KEY publication_author");
        for (var change : changes.entrySet()) {
            Steps.step(change.getKey(), () -> {
                Steps.execute(connection, change.getValue());
                String found;
                try {
                    database("validate");
                    found = "valid";
                } catch (Exception error) {
                    found = error.getMessage();
                }
                List<String> before = script("update");
                database("update");
                return List.of(found, before, script("update"));
            });
        }
        Steps.execute(connection, "ALTER TABLE Book MODIFY pages INT");
        Steps.definitions(connection, "updated");
    }

    private static void drop(Connection connection) throws Exception {
        Steps.step("what drop would do", () -> script("drop"));
        Steps.step("drop", () -> database("drop"));
        Steps.step("tables that are left", () -> Steps.rows(connection, "SHOW TABLES"));
    }
}
