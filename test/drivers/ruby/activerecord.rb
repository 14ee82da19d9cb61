# A row of the table in doc/drivers.md: Rails' Active Record.
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
since = Time.now - 3600
schema = StringIO.new
ActiveRecord::SchemaDumper.dump(ActiveRecord::Base.connection, schema)
raise 'schema.rb has the table' unless schema.string.include?(%q(Could not dump table "person"))
puts [
  [ada.id, ada.disk, ada.post].map { |id| id.class.name }.uniq.join('/'),
  ada.number.class.name,
  first('as is' => -> { Person.where(id: ada.id, disk: ada.disk, post: ada.post) }),
  first('as is' => -> { Person.where(id: [ada.id]) }),
  first('as is' => -> { Person.where(id: since..) }, '`::timestamptz`' => -> { Person.where('id >= ?::timestamptz', since) }),
  '`schema_format = :sql`'
].join(' | ')
