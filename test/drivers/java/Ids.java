// JDBC.
import java.sql.*;
import java.time.OffsetDateTime;
import java.util.*;

public class Ids {
    static Connection connection;

    static boolean found(String query, Object... values) throws SQLException {
        try (PreparedStatement select = connection.prepareStatement(query)) {
            for (int i = 0; i < values.length; i++) {
                if (values[i] instanceof String id) select.setObject(i + 1, id, Types.OTHER);
                else select.setObject(i + 1, values[i]);
            }
            return select.executeQuery().next();
        }
    }

    static boolean refused(String query, String value) throws SQLException {
        try (PreparedStatement select = connection.prepareStatement(query)) {
            select.setString(1, value);
            select.executeQuery();
            return false;
        } catch (SQLException e) {
            return e.getSQLState().equals("42883");
        }
    }

    static String of(boolean works, String how) { return works ? how : "nothing works"; }

    public static void main(String[] args) throws SQLException {
        String url = String.format("jdbc:postgresql://%s:%s/%s?user=%s", System.getenv("PGHOST"),
            System.getenv("PGPORT"), System.getenv("PGDATABASE"), System.getenv("PGUSER"));
        connection = DriverManager.getConnection(url);
        PreparedStatement insert = connection.prepareStatement("INSERT INTO person (name) VALUES ('ada')",
            new String[] {"id", "disk", "post", "number"});
        insert.executeUpdate();
        ResultSet keys = insert.getGeneratedKeys();
        keys.next();
        String id = keys.getString("id"), disk = keys.getString("disk"), post = keys.getString("post");
        Set<String> types = new LinkedHashSet<>();
        for (String column : new String[] {"id", "disk", "post"}) types.add(keys.getObject(column).getClass().getSimpleName());

        // setString says varchar, and there is no sno = varchar.
        boolean other = refused("SELECT FROM person WHERE id = ?", id) &&
            found("SELECT FROM person WHERE id = ? AND disk = ? AND post = ?", id, disk, post);
        String[] given = {"9q99v4p624ppi224", "5rMJuGXiYw-2eDkDiPiLuBbS", "10339378790400001"};
        boolean write = found("INSERT INTO person (id, disk, post, number) VALUES (?, ?, ?, ?) RETURNING id", given[0], given[1], given[2], 5L) &&
            found("SELECT FROM person WHERE id = ? AND disk = ? AND post = ? AND number = 5", given[0], given[1], given[2]);
        boolean list = found("SELECT FROM person WHERE id = ANY(?::sno[])", connection.createArrayOf("text", new String[] {id}));
        boolean time = found("SELECT FROM person WHERE id >= ?", OffsetDateTime.now().minusHours(1));
        System.out.println(String.join(" | ", String.join("/", types), keys.getObject("number").getClass().getSimpleName(),
            of(write, "`Types.OTHER`"), of(other, "`Types.OTHER`"), of(list, "`::sno[]`"), of(time, "as is"), ""));

        // Frameworks that know only setString: all strings go without a type.
        connection = DriverManager.getConnection(url + "&stringtype=unspecified");
        if (refused("SELECT FROM person WHERE id = ?", id)) throw new SQLException("stringtype=unspecified");
    }
}
