# Django: a key that the server generates. Its tables are made, filled one by one and in bulk, and referred to; the other
# columns of "person" are read and written as they are.
import os

import django
from django.conf import settings
from django.db import DataError, connection, models
from row import given, row, since

database = {"ENGINE": "django.db.backends.postgresql", "NAME": os.environ["PGDATABASE"]}
settings.configure(DATABASES={"default": database}, USE_TZ=True)
django.setup()


class SnoField(models.AutoField):
    validators = ()  # those of numbers

    def db_type(self, connection):
        return "sno"

    rel_db_type = db_type

    def db_type_suffix(self, connection):
        return "DEFAULT gen_sno()"

    def to_python(self, value):
        return value

    get_prep_value = to_python


class AsIs(models.Field):
    def db_type(self, connection):
        return self.verbose_name


class Person(models.Model):
    id = SnoField(primary_key=True)
    disk = AsIs("gid(volume)")
    post = AsIs("mastic")
    number = models.BigIntegerField()
    name = models.TextField(null=True)

    class Meta:
        app_label, db_table, managed = "app", "person", False


class Purchase(models.Model):
    id = SnoField(primary_key=True)
    buyer = models.TextField()

    class Meta:
        app_label, db_table = "app", "purchase"


class TextPurchase(models.Model):
    id = models.CharField(primary_key=True, max_length=16)
    buyer = models.TextField()

    class Meta:
        app_label, db_table, managed = "app", "purchase", False


class Item(models.Model):
    id = SnoField(primary_key=True)
    purchase = models.ForeignKey(Purchase, models.CASCADE)

    class Meta:
        app_label, db_table = "app", "item"


with connection.cursor() as cursor:
    cursor.execute("INSERT INTO person (name) VALUES ('ada')")
ada = Person.objects.get(name="ada")


def write():
    values = dict(zip(("id", "disk", "post", "number"), given))
    Person.objects.create(**values)
    return list(Person.objects.filter(id=given[0]).values_list(*values))


row((ada.id, ada.disk, ada.post, ada.number),
    write={"as is": write},
    id={"as is": lambda: Person.objects.filter(id=ada.id, disk=ada.disk, post=ada.post)},
    list={"as is": lambda: Person.objects.filter(id__in=[ada.id])},
    time={"as is": lambda: Person.objects.filter(id__gte=since, name="ada")})

with connection.schema_editor() as editor:
    editor.create_model(Purchase)
    editor.create_model(Item)
one = Purchase.objects.create(buyer="one")
one.full_clean()
many = Purchase.objects.bulk_create([Purchase(buyer="two"), Purchase(buyer="three")])
Item.objects.create(purchase=one)
one.save()
assert len({one.id, *(purchase.id for purchase in many)}) == 3 and len(one.id) == 16
assert Item.objects.filter(purchase__id__gte=since, purchase_id=one.id).count() == 1
assert Purchase.objects.filter(id__gte=since).count() == 3
with connection.cursor() as cursor:
    cursor.execute("SELECT pg_typeof(id)::text, pg_typeof(purchase_id)::text FROM item")
    assert cursor.fetchall() == [("sno", "sno")]
try:
    TextPurchase.objects.create(buyer="four")
except DataError as error:
    assert str(error).startswith('invalid input syntax for type sno: ""')
else:
    raise AssertionError("a CharField has sent no empty text")
