import jakarta.persistence.*;
import jakarta.persistence.CascadeType;
import java.math.*;
import java.time.*;
import java.util.*;
import org.hibernate.annotations.*;
import org.hibernate.type.SqlTypes;

/** Entities: one with every type; authors, publications in joined tables, vehicles in one table, ids of each strategy. */
final class Entities {
    static final List<Class<?>> ALL = List.of(EveryType.class, Author.class, Publication.class, Book.class, Journal.class, Vehicle.class, Car.class, Truck.class, Remark.class, Label.class, Counted.class, Pair.class);

    enum Choice { FIRST, SECOND, THIRD }

    @Embeddable
    static class Place {
        String street;
        @Column(length = 40) String city;

        Place() {}

        Place(String street, String city) {
            this.street = street;
            this.city = city;
        }
    }

    @Entity(name = "EveryType")
    static class EveryType {
        @Id @GeneratedValue(strategy = GenerationType.IDENTITY) Long id;
        byte tiny;
        short small;
        int whole;
        long big;
        float single;
        @Column(name = "dbl") double twice;
        boolean flag;
        Character letter;
        @Column(length = 50) @ColumnDefault("'it''s so'") @Comment("a short one") String text;
        @Column(length = 100000) String longer;
        @Lob String clob;
        byte[] bytes;
        @Lob byte[] lob;
        @Column(precision = 20, scale = 6) BigDecimal exact;
        BigInteger great;
        LocalDate day;
        LocalTime time;
        LocalDateTime moment;
        Instant instant;
        OffsetDateTime offset;
        ZonedDateTime zoned;
        Duration duration;
        Year year;
        UUID uuid;
        @Enumerated(EnumType.STRING) Choice named;
        @Enumerated(EnumType.ORDINAL) Choice numbered;
        @JdbcTypeCode(SqlTypes.JSON) Map<String, Object> document;
        @JdbcTypeCode(SqlTypes.JSON) List<Integer> list;
        String[] words;
        @Nationalized @Column(length = 20) String national;
        @GeneratedColumn("concat(text, '-', whole)") @Column(length = 60) String label;
        @GeneratedColumn("whole - 2") Integer doubled;
        @CreationTimestamp(source = SourceType.DB) Instant made;
    }

    @Entity(name = "Author")
    @Table(uniqueConstraints = @UniqueConstraint(name = "one_author", columnNames = {"name", "born"}), indexes = @jakarta.persistence.Index(name = "author_born", columnList = "born desc, name"))
    @org.hibernate.annotations.Check(name = "author_born_check", constraints = "born between 1000 and 2100")
    static class Author {
        @Id @GeneratedValue(strategy = GenerationType.SEQUENCE) Long id;
        @Column(nullable = false, length = 80) String name;
        @Column(nullable = false) int born;
        @Version int version;
        @Embedded Place home;
        @OneToMany(mappedBy = "author", cascade = CascadeType.ALL, orphanRemoval = true) @OrderBy("title") List<Publication> publications = new ArrayList<>();
        @ManyToMany @JoinTable(name = "Author_friends") Set<Author> friends = new LinkedHashSet<>();
        @JdbcTypeCode(SqlTypes.JSON) Map<String, Object> facts;
    }

    @Entity(name = "Publication")
    @Inheritance(strategy = InheritanceType.JOINED)
    static class Publication {
        @Id @GeneratedValue(strategy = GenerationType.TABLE) Long id;
        @Column(nullable = false) String title;
        @Column(precision = 10, scale = 2) BigDecimal price;
        @ManyToOne(fetch = FetchType.LAZY, optional = false) @JoinColumn(name = "author", foreignKey = @ForeignKey(name = "publication_author")) @OnDelete(action = OnDeleteAction.CASCADE) Author author;
    }

    @Entity(name = "Book")
    @Table(indexes = @jakarta.persistence.Index(name = "book_title", columnList = "isbn, pages"))
    static class Book extends Publication {
        @Column(length = 20, unique = true) String isbn;
        @Column(length = 60) String subtitle;
        Integer pages;
        @ElementCollection @CollectionTable(name = "Book_words") @OrderColumn List<String> words = new ArrayList<>();
        @ElementCollection @MapKeyColumn(name = "word_key", length = 20) Map<String, Integer> counts = new HashMap<>();
    }

    @Entity(name = "Journal")
    static class Journal extends Publication {
        int issues;
        @Enumerated(EnumType.STRING) Choice rhythm;
    }

    @Entity(name = "Vehicle")
    @Inheritance(strategy = InheritanceType.SINGLE_TABLE)
    @DiscriminatorColumn(name = "kind", length = 10)
    static class Vehicle {
        @Id @UuidGenerator UUID id;
        @Column(length = 30) String name;
    }

    @Entity(name = "Car")
    @DiscriminatorValue("car")
    static class Car extends Vehicle {
        Integer doors;
    }

    @Entity(name = "Truck")
    @DiscriminatorValue("truck")
    static class Truck extends Vehicle {
        Double capacity;
    }

    @Entity(name = "Remark")
    @SoftDelete
    static class Remark {
        @Id @GeneratedValue(strategy = GenerationType.IDENTITY) Long id;
        int weight;
    }

    @Entity(name = "Label")
    static class Label {
        @Id @Column(length = 20) String word;
        int weight;
    }

    @Entity(name = "Counted")
    @Immutable
    @Subselect("select a.name as name, count(p.id) as publications from Author a left join Publication p on p.author = a.id group by a.name")
    @Synchronize({"Author", "Publication"})
    static class Counted {
        @Id String name;
        long publications;
    }

    @Embeddable
    static class PairId implements java.io.Serializable {
        int one;
        int two;

        PairId() {}

        PairId(int one, int two) {
            this.one = one;
            this.two = two;
        }

        @Override public boolean equals(Object other) {
            return other instanceof PairId id && id.one == one && id.two == two;
        }

        @Override public int hashCode() {
            return 31 * one + two;
        }
    }

    @Entity(name = "Pair")
    static class Pair {
        @EmbeddedId PairId id;
        @Column(length = 20) String value;
    }

    private Entities() {}
}
