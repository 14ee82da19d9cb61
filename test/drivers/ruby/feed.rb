# A reader of a feed with Active Record: a poll and the copy, a wait, and fixtures, which Rails loads with all triggers
# off, also those that stamp.
require 'active_record'
require 'active_record/fixtures'
require 'tmpdir'
require 'timeout'

ActiveRecord::Base.establish_connection(adapter: 'postgresql', database: ENV['PGDATABASE'])
Sql = ActiveRecord::Base.connection
Sql.execute('CREATE TABLE stories (id bigserial PRIMARY KEY, title text, updated_at timestamptz NOT NULL)')
class Story < ActiveRecord::Base; end
Sql.execute("INSERT INTO stories (title, updated_at) SELECT 'old', now() FROM generate_series(1, 1500)")
Sql.execute("SELECT snowflake_ids.create_feed('stories')")
Story.reset_column_information

copy = {}
position = ''
read = lambda do
  position = Sql.select_value("SELECT snowflake_ids.wait_feed('stories', #{Sql.quote(position)}, '1 s')")
  Story.find_by_sql(['SELECT step, f.id AS key, (f."row").*, position FROM stories_feed(?) AS f', position]).each do |row|
    case row.step
    when 0 then copy.clear
    when 1 then copy.delete(row.key)
    when 2 then copy[row.key] = row.title
    when 3 then position = row.position
    end
  end
end
agrees = lambda do |what|
  Timeout.timeout(180) { read.call until copy == Story.all.to_h { |story| [story.id, story.title] } }
  puts what
end

slow = PG.connect(dbname: ENV['PGDATABASE'])
slow.exec("BEGIN; INSERT INTO stories (title, updated_at) VALUES ('slow', now())")
new = Story.create!(title: 'new')
read.call
slow.exec('COMMIT')
agrees.call('a slow transaction')
new.update!(title: 'changed')
Story.first.destroy!
Story.where(title: 'old').limit(1200).update_all(title: 'changed too')
agrees.call('many changes, and a deletion')
Sql.execute('TRUNCATE stories')
Story.create!(title: 'after')
agrees.call('a table that was emptied')

fixtures = lambda do |stamp|
  Dir.mktmpdir do |dir|
    File.write("#{dir}/stories.yml", "one:\n  title: one\n#{stamp}")
    ActiveRecord::FixtureSet.reset_cache
    ActiveRecord::FixtureSet.create_fixtures(dir, 'stories')
  end
end
begin
  fixtures.call('')
rescue ActiveRecord::NotNullViolation
  puts 'fixtures without stamps: refused'
end
fixtures.call("  stamp: 0\n")
puts "fixtures with stamps: #{Story.count}"
