import java.sql.*;
import java.time.OffsetDateTime;

public class Ids {
    public static void main(String[] args) throws SQLException {
        String url = String.format("jdbc:postgresql://%s:%s/%s?user=%s", System.getenv("PGHOST"),
            System.getenv("PGPORT"), System.getenv("PGDATABASE"), System.getenv("PGUSER"));
        try (Connection connection = DriverManager.getConnection(url)) {
            String id, disk;
            try (PreparedStatement insert = connection.prepareStatement(
                     "INSERT INTO person (name) VALUES (?)", new String[] {"id", "disk", "post"})) {
                insert.setString(1, "ada");
                insert.executeUpdate();
                ResultSet keys = insert.getGeneratedKeys();
                keys.next();
                id = keys.getString("id");
                disk = keys.getString("disk");
                System.out.println(keys.getObject("id").getClass().getSimpleName());
                System.out.println(keys.getObject("post").getClass().getSimpleName());
            }

            // setString says varchar, and there is no sno = varchar. Types.OTHER leaves the type to the server. So
            // does a cast in the query.
            try (PreparedStatement select = connection.prepareStatement(
                     "SELECT name FROM person WHERE id = ? AND disk = ?::gid")) {
                select.setObject(1, id, Types.OTHER);
                select.setString(2, disk);
                ResultSet found = select.executeQuery();
                found.next();
                System.out.println(found.getString(1));
                select.setString(1, id);
                try {
                    select.executeQuery();
                } catch (SQLException e) {
                    System.out.println(e.getSQLState());
                }
            }

            // An OffsetDateTime is a timestamptz; setTimestamp leaves the type open, so the query must say it.
            try (PreparedStatement select = connection.prepareStatement(
                     "SELECT count(*) FROM person WHERE id >= ? AND id >= ?::timestamptz")) {
                OffsetDateTime since = OffsetDateTime.now().minusHours(1);
                select.setObject(1, since);
                select.setTimestamp(2, Timestamp.from(since.toInstant()));
                ResultSet found = select.executeQuery();
                found.next();
                System.out.println(found.getInt(1));
            }
        }

        // With stringtype=unspecified all strings go without a type, as frameworks that know only setString need it.
        try (Connection connection = DriverManager.getConnection(url + "&stringtype=unspecified");
             PreparedStatement select = connection.prepareStatement(
                 "SELECT count(*) FROM person WHERE id = ? OR id > ?")) {
            select.setString(1, "2222222222222222");
            select.setString(2, "2222222222222222");
            ResultSet found = select.executeQuery();
            found.next();
            System.out.println(found.getInt(1) > 0);
        }
    }
}
