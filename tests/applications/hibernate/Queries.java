import java.math.BigDecimal;
import java.util.*;
import org.hibernate.*;

/** A library, and HQL over it: joins, polymorphism, groups, windows, sets, common table expressions, JSON, pages. */
final class Queries {
    private static void fill(SessionFactory factory) {
        Steps.step("persist a graph", () -> {
            factory.inTransaction(session -> {
                List<Entities.Author> authors = new ArrayList<>();
                for (int number = 0; number < 5; number++) {
                    Entities.Author author = new Entities.Author();
                    author.name = List.of("Ann", "Bob", "Cid", "Dee", "Eve").get(number);
                    author.born = 1950 + 10 * number;
                    author.home = number % 2 == 0 ? new Entities.Place(number + " Way", "Ulm") : null;
                    author.facts = number == 4 ? null : new TreeMap<>(Map.of("level", number, "tags", List.of("a", "t" + number), "vip", number == 1));
                    session.persist(author);
                    if (number > 0) author.friends.add(authors.get(0));
                    authors.add(author);
                }
                for (int number = 0; number < 40; number++) {
                    Entities.Publication publication = number % 4 == 3 ? new Entities.Journal() : new Entities.Book();
                    publication.title = "Title " + number;
                    publication.price = new BigDecimal(number).multiply(new BigDecimal("1.25"));
                    publication.author = authors.get(number % 4);
                    if (publication instanceof Entities.Book book) {
                        book.isbn = "isbn-" + number;
                        book.pages = 10 * number;
                        book.words.addAll(List.of("w" + number, "common"));
                        book.counts.put("a", number);
                    } else if (publication instanceof Entities.Journal journal) {
                        journal.issues = number;
                        journal.rhythm = Entities.Choice.values()[number % 3];
                    }
                    session.persist(publication);
                }
                for (int number = 0; number < 3; number++) {
                    Entities.Car car = new Entities.Car();
                    car.name = "car " + number;
                    car.doors = number + 2;
                    session.persist(car);
                    Entities.Truck truck = new Entities.Truck();
                    truck.name = "truck " + number;
                    truck.capacity = 1.5 * number;
                    session.persist(truck);
                }
            });
        });
    }

    private static final String[][] HQL = {
        {"inner join", "select p.title, a.name from Publication p join p.author a where p.price > 45 order by p.id"},
        {"left join with a condition", "select a.name, b.title from Author a left join Book b on b.author = a and b.pages > 360 order by a.name, b.title"},
        {"polymorphism", "select type(p), count(*) from Publication p group by type(p) order by 2"},
        {"treat", "select p.title, treat(p as Journal).issues from Publication p where treat(p as Journal).issues > 25 order by p.id"},
        {"one table of two", "select v.name from Vehicle v where type(v) = Truck order by v.name"},
        {"group and having", "select a.name, count(p), sum(p.price), avg(p.price), min(p.title), max(p.title) from Author a join a.publications p group by a.name having count(p) > 5 order by a.name"},
        {"rollup", "select a.name, a.born, count(*) from Publication p join p.author a where a.born < 1970 group by rollup(a.name, a.born) order by a.name nulls last, a.born nulls last"},
        {"window", "select p.title, row_number() over (partition by p.author.id order by p.price desc), sum(p.price) over (partition by p.author.id order by p.price rows between 1 preceding and current row) from Publication p order by p.id limit 6"},
        {"rank, lag, ntile", "select b.title, rank() over (order by b.pages), lag(b.pages) over (order by b.pages), ntile(3) over (order by b.pages) from Book b order by b.pages limit 5"},
        {"exists", "select a.name from Author a where exists (select 1 from Journal j where j.author = a and j.issues > 30) order by a.name"},
        {"in a subquery", "select count(*) from Publication p where p.author in (select a from Author a where a.born > 1955)"},
        {"all and any", "select a.name from Author a where a.born >= all (select b.born from Author b) or a.born < any (select c.born from Author c where c.name = 'Bob') order by a.name"},
        {"union", "select u.name from (select a.name as name from Author a where a.born < 1965 union select v.name as name from Vehicle v where v.name like 'car%') u order by u.name"},
        {"intersect", "select a.name from Author a where a.born < 1975 intersect select a.name from Author a where a.born > 1955 order by 1"},
        {"except", "select a.name from Author a except select a.name from Author a where a.born > 1955 order by 1"},
        {"common table expression", "with dear as (select p.author.id as author, p.price as price from Publication p where p.price > 30) select d.author, count(*), max(d.price) from dear d group by d.author order by d.author"},
        {"recursive", "with numbers as (select 1 as n from Author a where a.name = 'Ann' union all select n.n + 1 as n from numbers n where n.n < 5) select n.n from numbers n order by n.n"},
        {"lateral", "select a.name, t.title from Author a join lateral (select p.title as title from Publication p where p.author = a order by p.price desc limit 2) t on true order by a.name, t.title"},
        {"derived table", "select t.name, t.books from (select a.name as name, count(b) as books from Author a join Book b on b.author = a group by a.name) t order by t.name"},
        {"elements", "select b.title, w from Book b join b.words w where w <> 'common' and b.pages < 60 order by b.id"},
        {"index of a list", "select index(w), w from Book b join b.words w where b.isbn = 'isbn-1' order by index(w)"},
        {"member of", "select count(*) from Book b where 'w5' member of b.words"},
        {"size and empty", "select a.name, size(a.friends) from Author a where a.publications is empty or size(a.publications) > 3 order by a.name"},
        {"map key", "select key(c), value(c) from Book b join b.counts c where b.pages < 30 order by value(c)"},
        {"case, coalesce, nullif", "select a.name, case when a.born > 1975 then 'young' else 'old' end, coalesce(a.home.city, 'none'), nullif(a.born, 1950) from Author a order by a.name"},
        {"texts", "select upper(a.name), lower(a.name), length(a.name), substring(a.name, 2, 1), concat(a.name, '-', a.born), trim(both 'A' from a.name), locate('n', a.name), replace(a.name, 'n', 'x'), left(a.name, 1), lpad(a.name, 5, '*'), repeat(a.name, 2) from Author a where a.id = 1"},
        {"numbers", "select abs(-1.5), round(2.567, 2), floor(-1.5), ceiling(1.2), mod(7, 3), power(2, 10), sqrt(16.0), sign(-3), truncate(1.999, 1), greatest(1, 3, 2), least(3, 1) from Author a where a.id = 1"},
        {"dates", "select year(e.day), month(e.day), extract(hour from e.moment), e.day + 1 day, e.moment - 2 hour, (e.moment - e.moment) by second, format(e.moment as 'yyyy-MM-dd HH:mm') from EveryType e where e.text = 'changed'"},
        {"casts", "select cast(a.born as String), cast('12' as Integer), cast(a.born as Double), str(a.born) from Author a where a.id = 1"},
        {"listagg", "select listagg(a.name, ',') within group (order by a.name desc) from Author a"},
        {"count distinct and filter", "select count(distinct p.author), count(*) filter (where p.price > 20), sum(case when p.price > 20 then 1 else 0 end), every(p.price >= 0), any(p.price > 48) from Publication p"},
        {"like and escape", "select count(*) from Publication p where p.title like 'Title 1_' or p.title like '%!%%' escape '!' or p.title ilike 'TITLE 2%'"},
        {"between and in", "select p.title from Publication p where p.price between 10 and 12.5 or p.id in (1, 2) order by p.id"},
        {"tuples", "select a.name from Author a where (a.name, a.born) in (('Ann', 1950), ('Bob', 1), ('Cid', 1970)) order by a.name"},
        {"json_value", "select a.name, json_value(a.facts, '$.level' returning integer) from Author a where json_value(a.facts, '$.level' returning integer) > 0 order by a.name"},
        {"json_query and json_exists", "select a.name, json_query(a.facts, '$.tags'), json_exists(a.facts, '$.vip') from Author a order by a.name"},
        {"json_object and json_array", "select json_object('name': a.name, 'born': a.born), json_array(a.name, a.born) from Author a order by a.name"},
        {"json_arrayagg and json_objectagg", "select json_arrayagg(a.born), json_objectagg(a.name: a.born) from Author a where a.id = 2"},
        {"json_set", "select json_set(a.facts, '$.level', 9), json_remove(a.facts, '$.tags') from Author a where a.name = 'Bob'"},
        {"json_table", "select a.name, t.tag from Author a join lateral json_table(a.facts, '$.tags[*]' columns (tag String path '$')) t order by a.name, t.tag"},
        {"generate_series", "select i from generate_series(1, 5, 2) i order by 1"},
        {"unnest", "select e.id, w from EveryType e join lateral unnest(e.words) w order by 2"},
        {"pages", "select p.title from Publication p order by p.price desc offset 3 rows fetch next 4 rows only"},
        {"a subselect entity", "select c.name, c.publications from Counted c order by c.name"},
        {"implicit joins", "select f.name from Author a join a.friends f where a.home.city = 'Ulm' and a.name <> 'Ann' order by a.name"},
        {"sql function", "select function('substring_index', p.title, ' ', -1), sql('? + 1', p.id) from Publication p where p.id < 3 order by p.id"},
    };

    private static List<String> shown(List<?> rows) {
        List<String> seen = new ArrayList<>();
        for (Object row : rows) seen.add(row instanceof Object[] values ? Arrays.toString(values) : String.valueOf(row));
        return seen;
    }

    private static void sessions(SessionFactory factory) {
        Steps.step("lazy collections", () -> factory.fromTransaction(session -> {
            Entities.Author author = session.find(Entities.Author.class, 1L);
            return author.publications.size() + " " + author.publications.get(0).title + " " + author.friends.size() + " " + author.facts;
        }));
        Steps.step("join fetch with pages", () -> factory.fromTransaction(session -> {
            List<String> seen = new ArrayList<>();
            for (Entities.Author author : session.createSelectionQuery("from Author a left join fetch a.publications order by a.name", Entities.Author.class).setFirstResult(1).setMaxResults(2).getResultList()) seen.add(author.name + " " + author.publications.size());
            return seen;
        }));
        Steps.step("multiple ids", () -> factory.fromTransaction(session -> session.findMultiple(Entities.Author.class, List.of(3L, 1L, 99L)).stream().map(author -> author == null ? "none" : author.name).toList()));
        Steps.step("criteria", () -> factory.fromTransaction(session -> {
            var builder = session.getCriteriaBuilder();
            var query = builder.createTupleQuery();
            var author = query.from(Entities.Author.class);
            query.multiselect(author.get("born"), builder.count(author)).where(builder.like(author.get("name"), "%e%")).groupBy(author.get("born")).orderBy(builder.desc(author.get("born")));
            return session.createSelectionQuery(query).getResultList().stream().map(tuple -> Arrays.toString(tuple.toArray())).toList();
        }));
        Steps.step("native query", () -> factory.fromTransaction(session -> session.createNativeQuery("select a.* from Author a where a.born > :year order by a.name", Entities.Author.class).setParameter("year", 1965).getResultList().stream().map(author -> author.name).toList()));
        Steps.step("scroll", () -> factory.fromTransaction(session -> {
            List<String> seen = new ArrayList<>();
            try (var cursor = session.createSelectionQuery("select a.name from Author a order by a.name", String.class).setFetchSize(2).scroll(ScrollMode.FORWARD_ONLY)) {
                while (cursor.next()) seen.add(cursor.get());
            }
            return seen;
        }));
        Steps.step("keyed pages", () -> factory.fromTransaction(session -> {
            var page = session.createSelectionQuery("from Book b where b.pages > 100", Entities.Book.class).getKeyedResultList(org.hibernate.query.Page.first(3).keyedBy(org.hibernate.query.Order.desc(Entities.Book.class, "id")));
            var next = session.createSelectionQuery("from Book b where b.pages > 100", Entities.Book.class).getKeyedResultList(page.getNextPage());
            return List.of(page.getResultList().stream().map(book -> book.title).toList(), next.getResultList().stream().map(book -> book.title).toList());
        }));
    }

    static void run(SessionFactory factory) {
        fill(factory);
        for (String[] query : HQL) Steps.step("hql: " + query[0], () -> factory.fromTransaction(session -> shown(session.createSelectionQuery(query[1], Object[].class).getResultList())));
        sessions(factory);
    }

    private Queries() {}
}
