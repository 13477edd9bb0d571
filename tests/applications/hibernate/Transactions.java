import jakarta.persistence.*;
import java.util.*;
import org.hibernate.*;

/** Rollback, versions, pessimistic locks with NOWAIT, SKIP LOCKED and time-outs, read-only transactions. */
final class Transactions {
    static void run(SessionFactory factory) {
        Steps.step("rollback", () -> {
            try (Session session = factory.openSession()) {
                Transaction transaction = session.beginTransaction();
                session.find(Entities.Author.class, 1L).name = "lost";
                session.flush();
                transaction.rollback();
            }
            return factory.fromTransaction(session -> session.find(Entities.Author.class, 1L).name);
        });
        Steps.step("optimistic lock", () -> {
            try (Session one = factory.openSession(); Session two = factory.openSession()) {
                one.beginTransaction();
                two.beginTransaction();
                one.find(Entities.Author.class, 1L).home = new Entities.Place("1", "Bonn");
                two.find(Entities.Author.class, 1L).home = new Entities.Place("2", "Kiel");
                one.getTransaction().commit();
                try {
                    two.getTransaction().commit();
                    return "committed";
                } catch (RuntimeException error) {
                    return error.getClass().getSimpleName();
                }
            }
        });
        Steps.step("locks", () -> {
            try (Session holder = factory.openSession(); Session other = factory.openSession()) {
                holder.beginTransaction();
                other.beginTransaction();
                holder.find(Entities.Author.class, 1L, LockModeType.PESSIMISTIC_WRITE);
                List<String> free = other.createSelectionQuery("select a.name from Author a order by a.name", String.class).setHibernateLockMode(LockMode.UPGRADE_SKIPLOCKED).getResultList();
                String refused = Steps.refused(() -> other.createSelectionQuery("from Author a", Entities.Author.class).setHibernateLockMode(LockMode.UPGRADE_NOWAIT).getResultList());
                other.getTransaction().rollback();
                holder.getTransaction().rollback();
                return List.of(free, refused);
            }
        });
        Steps.step("shared lock and increment of a version", () -> factory.fromTransaction(session -> {
            Entities.Author author = session.find(Entities.Author.class, 2L, LockModeType.PESSIMISTIC_READ);
            int before = author.version;
            session.lock(author, LockModeType.PESSIMISTIC_FORCE_INCREMENT);
            return author.version - before;
        }));
        Steps.step("savepoints", () -> factory.fromTransaction(session -> session.doReturningWork(connection -> {
            Steps.execute(connection, "insert into Pair (one, two, value) values (1, 99, 'kept')");
            var savepoint = connection.setSavepoint("inner");
            Steps.execute(connection, "insert into Pair (one, two, value) values (2, 99, 'lost')");
            connection.rollback(savepoint);
            return Steps.rows(connection, "select value from Pair where two = 99");
        })));
        Steps.step("read only", () -> factory.fromTransaction(session -> {
            session.setDefaultReadOnly(true);
            session.find(Entities.Author.class, 1L).name = "not written";
            session.flush();
            session.clear();
            return session.find(Entities.Author.class, 1L).name;
        }));
    }

    private Transactions() {}
}
