import java.math.BigDecimal;
import java.util.*;
import org.hibernate.*;

/** Changes in bulk over joined and single tables, upserts, merges, collections, soft deletes, constraints. */
final class Changes {
    private static int mutate(SessionFactory factory, String hql) {
        return factory.fromTransaction(session -> session.createMutationQuery(hql).executeUpdate());
    }

    private static Object ask(SessionFactory factory, String hql) {
        return factory.fromTransaction(session -> session.createSelectionQuery(hql, Object.class).getResultList());
    }

    static void run(SessionFactory factory) {
        Steps.step("insert with generated ids", () -> factory.inTransaction(session -> {
            for (int weight = 0; weight < 10; weight++) {
                Entities.Remark remark = new Entities.Remark();
                remark.weight = weight;
                session.persist(remark);
            }
        }));
        for (String[] change : new String[][] {
            {"update one table", "update Author set born = born + 1 where name = 'Bob'", "select born from Author order by id"},
            {"update over joined tables", "update Book set pages = pages + 1, price = price * 2 where pages < 50", "select sum(pages), sum(price) from Book"},
            {"update by a subquery", "update Journal set issues = (select count(b) from Book b where b.author = author) where issues > 20", "select sum(issues) from Journal"},
            {"versioned update", "update versioned Author set born = born where name = 'Ann'", "select version from Author order by id"},
            {"insert from a query", "insert into Pair (id.one, id.two, value) select a.born, 1, a.name from Author a where a.id < 4", "select p.id.one, p.value from Pair p order by 1"},
            {"insert values", "insert into Label (word, weight) values ('red', 1), ('blue', 2), ('green', 3)", "select word from Label order by word"},
            {"insert that updates", "insert into Label (word, weight) values ('red', 7), ('grey', 8) on conflict (word) do update set weight = excluded.weight + 1", "select word, weight from Label order by word"},
            {"insert that ignores", "insert into Label (word, weight) values ('red', 9), ('pink', 1) on conflict (word) do nothing", "select word, weight from Label order by word"},
            {"delete", "delete from Label where weight > 5", "select word from Label order by word"},
            {"soft delete", "delete from Remark where weight > 5", "select weight from Remark order by weight"},
            {"delete over joined tables", "delete from Book where pages > 350", "select count(*) from Publication"},
            {"delete of one kind", "delete from Truck where capacity > 2", "select count(*) from Vehicle"},
        }) Steps.step(change[0], () -> List.of(mutate(factory, change[1]), Arrays.deepToString(((List<?>) ask(factory, change[2])).toArray())));
        Steps.step("soft deleted rows", () -> factory.fromTransaction(session -> session.createNativeQuery("select count(*) from Remark where deleted", Long.class).getSingleResult()));
        Steps.step("stateless insert of many and upsert", () -> {
            try (StatelessSession session = factory.openStatelessSession()) {
                session.setJdbcBatchSize(25);
                Transaction transaction = session.beginTransaction();
                for (int number = 0; number < 60; number++) session.insert(pair(number, "v" + number));
                session.upsert(pair(3, "upserted"));
                session.upsert(pair(1000, "new"));
                transaction.commit();
            }
            return ask(factory, "select value from Pair where id.two = 0 and id.one in (3, 4, 1000) order by id.one");
        });
        collections(factory);
        constraints(factory);
    }

    private static Entities.Pair pair(int one, String value) {
        Entities.Pair pair = new Entities.Pair();
        pair.id = new Entities.PairId(one, 0);
        pair.value = value;
        return pair;
    }

    private static Entities.Book book(Session session) {
        return session.createSelectionQuery("from Book where isbn = 'isbn-1'", Entities.Book.class).getSingleResult();
    }

    private static void collections(SessionFactory factory) {
        Steps.step("merge", () -> {
            Entities.Author author = factory.fromTransaction(session -> {
                Entities.Author found = session.find(Entities.Author.class, 5L);
                Hibernate.initialize(found.publications);
                Hibernate.initialize(found.friends);
                return found;
            });
            author.name = "Eva";
            author.friends.clear();
            Entities.Book book = new Entities.Book();
            book.title = "merged";
            book.isbn = "isbn-merged";
            book.price = BigDecimal.ONE;
            book.author = author;
            author.publications.add(book);
            factory.inTransaction(session -> session.merge(author));
            return Arrays.deepToString(((List<?>) ask(factory, "select a.name, a.version, size(a.friends), size(a.publications) from Author a where a.id = 5")).toArray());
        });
        Steps.step("a list changes", () -> {
            factory.inTransaction(session -> {
                Entities.Book book = book(session);
                book.words.remove(0);
                book.words.addAll(List.of("x", "y"));
                book.counts.put("b", 5);
            });
            return factory.fromTransaction(session -> {
                Entities.Book book = book(session);
                return book.words + " " + new TreeMap<>(book.counts);
            });
        });
        Steps.step("orphans are removed", () -> {
            factory.inTransaction(session -> session.find(Entities.Author.class, 5L).publications.clear());
            return ask(factory, "select count(*) from Publication p where p.author.id = 5");
        });
        Steps.step("remove cascades", () -> {
            factory.inTransaction(session -> session.remove(session.find(Entities.Author.class, 5L)));
            return ask(factory, "select count(*) from Author");
        });
    }

    private static void constraints(SessionFactory factory) {
        for (String[] wrong : new String[][] {
            {"check", "insert into Author (id, name, born, version) values (500, 'x', 5, 0)"}, {"unique key", "insert into Author (id, name, born, version) values (500, 'Ann', 1950, 0)"},
            {"foreign key", "insert into Publication (id, title, author) values (500, 'x', 500)"}, {"not null", "insert into Author (id, born, version) values (500, 1950, 0)"}, {"enum", "insert into Journal (id, issues, rhythm) values (1, 1, 'NEVER')"},
        }) {
            Steps.step("the " + wrong[0] + " holds", () -> {
                try {
                    factory.inTransaction(session -> session.createNativeMutationQuery(wrong[1]).executeUpdate());
                    return "was not refused";
                } catch (Exception error) {
                    String kind = error instanceof org.hibernate.exception.ConstraintViolationException violation ? violation.getKind() + " " + violation.getConstraintName() : error.getClass().getSimpleName();
                    return kind + " " + Steps.described(error);
                }
            });
        }
    }

    private Changes() {}
}
