# A reader of a feed with Active Record: a model of the view, find_each, and fixtures, which Rails loads with all
# triggers off.
require 'active_record'
require 'active_record/fixtures'
require 'tmpdir'
require 'timeout'

ActiveRecord::Base.establish_connection(adapter: 'postgresql', database: ENV['PGDATABASE'])
Sql = ActiveRecord::Base.connection
Sql.execute('CREATE TABLE stories (id bigint DEFAULT gen_mastic() PRIMARY KEY, title text, updated_at timestamptz NOT NULL)')
class Story < ActiveRecord::Base; end
# More than a batch of find_each.
Sql.execute("INSERT INTO stories (title, updated_at) SELECT 'old', now() FROM generate_series(1, 1500)")
Sql.execute("SELECT to_do FROM snowflake_ids.create_feed('stories', deletes => true)")
Story.reset_column_information

class StoryChange < ActiveRecord::Base
  self.table_name = 'stories_feed'
  self.primary_key = 'stamp' # find_each reads in its order
  default_scope { select('stories_feed.*, stories_feed.id AS story_id') }
  belongs_to :story, optional: true

  # Yields each change since the position, and returns the next position: the one that the first batch has.
  def self.since(position)
    following = nil
    includes(:story).find_each(start: position) do |change|
      following ||= change.position
      yield change
    end
    following || position
  end
end

# A client's copy: first the position, then the table, then the changes since then.
position = Sql.select_value("SELECT snowflake_ids.feed_position('stories')")
copy = Story.find_each.to_h { |story| [story.id, story.title] }
read = lambda do
  position = StoryChange.since(position) do |change|
    if !change.deleted
      copy[change.story_id] = change.story&.title
    elsif change.story_id
      copy.delete(change.story_id)
    else
      copy.clear
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
agrees.call('changes of more than a batch, and a deletion')
Sql.execute('TRUNCATE stories')
Story.create!(title: 'after')
agrees.call('a table that was emptied')
# Once all rows have settled, the position stays.
Timeout.timeout(180) { nil until (1..3).map { read.call }.uniq.size == 1 }

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
