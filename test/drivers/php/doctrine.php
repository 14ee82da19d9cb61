<?php
// Doctrine's DBAL and ORM: keys that the server generates.
require 'Doctrine/ORM/autoload.php';
require 'Doctrine/DBAL/autoload.php';
require 'Symfony/Component/Cache/autoload.php';

use Doctrine\DBAL\DriverManager;
use Doctrine\ORM\EntityManager;
use Doctrine\ORM\Id\AbstractIdGenerator;
use Doctrine\ORM\Mapping as ORM;
use Doctrine\ORM\ORMSetup;

class Mastic extends AbstractIdGenerator {
    public function generateId($em, $entity) {
        return $em->getConnection()->fetchOne('SELECT gen_mastic()');
    }
}

#[ORM\Entity]
#[ORM\Table(name: 'booking')]
class Booking {
    #[ORM\Id, ORM\Column(type: 'bigint')]
    #[ORM\GeneratedValue(strategy: 'CUSTOM'), ORM\CustomIdGenerator(class: Mastic::class)]
    public $id;
    #[ORM\Column]
    public string $guest;
}

$connection = DriverManager::getConnection(['driver' => 'pdo_pgsql', 'host' => getenv('PGHOST'),
    'port' => getenv('PGPORT'), 'user' => getenv('PGUSER'), 'dbname' => getenv('PGDATABASE')]);
$connection->executeStatement('CREATE TABLE booking (id bigint DEFAULT gen_mastic() PRIMARY KEY, guest text)');
$connection->executeStatement('CREATE TABLE visit (n bigserial)');
$connection->executeStatement('INSERT INTO visit DEFAULT VALUES');

$connection->insert('booking', ['guest' => 'ada']);
$last = $connection->lastInsertId();
$returned = $connection->fetchOne("INSERT INTO booking (guest) VALUES ('bob') RETURNING id");
echo 'lastInsertId: ', $last == 1 ? 'of another table' : $last, "\n";

$em = new EntityManager($connection, ORMSetup::createAttributeMetadataConfiguration([__DIR__], true, sys_get_temp_dir(),
    new Symfony\Component\Cache\Adapter\ArrayAdapter()));
$booking = new Booking();
$booking->guest = 'eve';
$em->persist($booking);
$em->flush();
echo 'RETURNING and the generator: ', implode(' ', $connection->fetchFirstColumn(
    'SELECT guest FROM booking WHERE id IN (?, ?) ORDER BY id', [$returned, $booking->id])), "\n";
