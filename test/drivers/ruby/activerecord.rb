# Rails' Active Record.
require 'active_record'
require 'stringio'

ActiveRecord::Base.establish_connection(adapter: 'postgresql', database: ENV['PGDATABASE'])
class Person < ActiveRecord::Base
  self.table_name = 'person'
end

def first(ways)
  ways.each do |name, way|
    return name if way.call.to_a.size == 1
  rescue ActiveRecord::StatementInvalid => error
    raise unless %w[PG::InvalidTextRepresentation PG::UndefinedFunction].include?(error.cause.class.name)
  end
  'nothing works'
end

$stderr = StringIO.new # "unknown OID: it will be treated as String"
ada = Person.create!(name: 'ada').reload
given = { id: '9q99v4p624ppi224', disk: '5rMJuGXiYw-2eDkDiPiLuBbS', post: '10339378790400001', number: 5 }
since = Time.now - 3600
schema = StringIO.new
from = ActiveRecord.version < Gem::Version.new('7.2') ? Person.connection : Person.connection_pool
ActiveRecord::SchemaDumper.dump(from, schema)
shown = schema.string.scan(/.*table "\w+"/)
raise "schema.rb: #{shown}" unless shown == ['# Could not dump table "person"']
puts [
  [ada.id, ada.disk, ada.post].map { |id| id.class.name }.uniq.join('/'),
  ada.number.class.name,
  first('as is' => -> { Person.where(**given) if Person.create!(given) }),
  first('as is' => -> { Person.where(id: ada.id, disk: ada.disk, post: ada.post) }),
  first('as is' => -> { Person.where(id: [ada.id]) }),
  first('as is' => -> { Person.where(id: since..) }, '`::timestamptz`' => -> { Person.where('id >= ?::timestamptz', since) }),
  '`schema_format = :sql`'
].join(' | ')

# The feed of doc/feed.md by find_each, which writes its own "WHERE number > last ORDER BY number".
Person.connection.execute(<<~SQL)
  CREATE VIEW person_feed AS SELECT * FROM person WHERE number < (SELECT mastic_settled()::bigint)
SQL
class Feed < ActiveRecord::Base
  self.table_name = 'person_feed'
  self.primary_key = 'number'
end
read = ->(last) { Feed.find_each(start: last + 1).map(&:name) }
sleep 0.01 until read.(ada.number - 1) == %w[ada]
slow = PG.connect(dbname: ENV['PGDATABASE'])
slow.exec("BEGIN; INSERT INTO person (name) VALUES ('first')")
Person.create!(name: 'second')
raise 'the feed is ahead' unless read.(ada.number) == []
slow.exec('COMMIT')
sleep 0.01 until (got = read.(ada.number)) != []
raise "the feed: #{got}" unless got == %w[first second]

# schema.rb loads into an empty database; from 7.1 on it makes the extension's schema first.
Person.connection.execute("CREATE DATABASE #{ENV['PGDATABASE']}_loaded")
ActiveRecord::Base.establish_connection(adapter: 'postgresql', database: "#{ENV['PGDATABASE']}_loaded")
raise 'no create_schema' unless schema.string.include?('create_schema "snowflake_ids"') || ActiveRecord.version < Gem::Version.new('7.1')
ActiveRecord::Schema.verbose = false
eval(schema.string)
raise 'schema.rb has not loaded' unless ActiveRecord::Base.connection.select_value('SELECT gen_sno()').size == 16
