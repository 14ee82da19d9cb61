# Rails' Active Record, with the types of doc/drivers.md.
require 'active_record'
require 'active_record/connection_adapters/postgresql_adapter'
require 'active_record/fixtures'
require 'stringio'
require 'tmpdir'

class IdType < ActiveRecord::Type::Value
  attr_reader :type
  def initialize(type, text) = (@type, @text = type, text)
  def cast_value(value)
    raise ArgumentError, "compare a #{type} with ?::timestamptz" if value.acts_like?(:time) || value.acts_like?(:date)
    value.to_s if @text.match?(value.to_s)
  end
  alias serialize cast
end

ActiveRecord::ConnectionAdapters::PostgreSQLAdapter.prepend(Module.new do
  def initialize_type_map(map = type_map)
    map.register_type 'sno', IdType.new(:sno, /\A[2-9a-x]{16}\z/)
    map.register_type 'gid', IdType.new(:gid, /\A[1-9A-HJ-NP-Za-km-z]{10}-[1-9A-HJ-NP-Za-km-z]{13}\z/)
    map.register_type 'mastic', IdType.new(:mastic, /\A[0-9]{1,20}\z/)
    super
  end
end)

ActiveRecord::Base.establish_connection(adapter: 'postgresql', database: ENV['PGDATABASE'])
class Person < ActiveRecord::Base
  self.table_name = 'person'
end

def first(ways)
  ways.each do |name, way|
    return name if way.call.to_a.size == 1
  rescue ArgumentError => error
    raise unless error.message == 'compare a sno with ?::timestamptz'
  rescue ActiveRecord::StatementInvalid => error
    raise unless %w[PG::InvalidTextRepresentation PG::UndefinedFunction].include?(error.cause.class.name)
  end
  'nothing works'
end

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

# A text that is no id finds nothing, as for a uuid.
not_found = [5, '5', "#{ada.id}0", ''].all? { |id| Person.find_by(id: id).nil? && Person.where(disk: id, post: ada.post).empty? }
raise 'a wrong id is found' unless not_found && Person.where(id: [ada.id, '5']).size == 1 && Person.find_by(post: 5).nil?
begin
  raise "found: #{Person.find('5')}"
rescue ActiveRecord::RecordNotFound
end
raise 'an id has changed' if Person.find(ada.id).changed?

# Fixtures with snos
Person.connection.execute('CREATE TABLE pet (id sno DEFAULT gen_sno() PRIMARY KEY, person_id sno REFERENCES person, name text)')
class Pet < ActiveRecord::Base
  self.table_name = 'pet'
  belongs_to :person
end
Dir.mktmpdir do |dir|
  File.write("#{dir}/person.yml", "bob:\n  id: 9q99v4p624ppi225\n  name: bob\n")
  File.write("#{dir}/pet.yml", "rex:\n  id: 9q99v4p624ppi226\n  name: rex\n  person_id: 9q99v4p624ppi225\n")
  ActiveRecord::FixtureSet.create_fixtures(dir, %w[person pet], 'person' => Person, 'pet' => Pet)
end
raise 'the fixtures' unless Pet.find_by(name: 'rex').person.name == 'bob'

# schema.rb loads into an empty database; from 7.1 on it makes the extension's schema first.
Person.connection.execute("CREATE DATABASE #{ENV['PGDATABASE']}_loaded")
ActiveRecord::Base.establish_connection(adapter: 'postgresql', database: "#{ENV['PGDATABASE']}_loaded")
raise 'no create_schema' unless schema.string.include?('create_schema "snowflake_ids"') || ActiveRecord.version < Gem::Version.new('7.1')
ActiveRecord::Schema.verbose = false
eval(schema.string)
raise 'schema.rb has not loaded' unless ActiveRecord::Base.connection.select_value('SELECT gen_sno()').size == 16
