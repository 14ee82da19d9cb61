# A picture as SVG, for tools/pictures: begin(), then what is on it, then finish().
#
# It has light and dark colours and a ground of its own, so it can be read on any page. text() dies when a text would
# lie over another one or beyond the edge.
package Drawing;
use strict;
use warnings;
use Exporter 'import';
our @EXPORT = qw(begin element text box line arrow finish %picture);

# Colours: class => [light, dark]. Texts have the ink of the ground, so each fill is pale in light, deep in dark.
my %ground = (ground => [ '#ffffff', '#0d1117' ], edge => [ '#d1d9e0', '#3d444d' ]);
my %ink = (
	ink => [ '#1f2328', '#f0f6fc' ],
	soft => [ '#59636e', '#9ea7b3' ],
	warn => [ '#b3261e', '#ff8f85' ],
	blue => [ '#0b57b0', '#7ab8ff' ],
	violet => [ '#6f2da8', '#cf9bff' ]);
my %fill = (
	time => [ '#bfdcff', '#1d4777' ],
	toggle => [ '#ff9d5c', '#d2691e' ],
	metabyte => [ '#ffe38a', '#6b5300' ],
	node => [ '#bfe8c2', '#1d5a2c' ],
	sequence => [ '#e2cffa', '#51337f' ],
	random => [ '#dfe3e8', '#39414b' ],
	fixed => [ '#ffcdd2', '#7b2c38' ],
	unused => [ '#ffffff', '#0d1117' ],
	box => [ '#f6f8fa', '#151b23' ],
	bar => [ '#afb8c1', '#57606a' ]);
my ($sans, $mono) = ('Helvetica, Arial, sans-serif', 'Menlo, Consolas, "DejaVu Sans Mono", monospace');

our %picture;    # path => text
my ($out, @texts, $wide, $high);

sub style
{
	my ($i) = @_;
	return join '',
	  ( map { "  .t-$_ { fill: $ink{$_}[$i] } .l-$_ { stroke: $ink{$_}[$i] } .s-$_ { fill: $ink{$_}[$i] }\n" }
		sort keys %ink),
	  (map { "  .f-$_ { fill: $fill{$_}[$i] }\n" } sort keys %fill),
	  "  .ground { fill: $ground{ground}[$i]; stroke: $ground{edge}[$i] } .edge { stroke: $ground{edge}[$i] }\n";
}

sub begin
{
	my ($title, $describe);
	($wide, $high, $title, $describe) = @_;
	@texts = ();
	my ($light, $dark) = map { style($_) } 0, 1;
	$out = <<"END";
<?xml version="1.0" encoding="utf-8"?>
<!-- Made by tools/pictures (make pictures). -->
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 $wide $high" width="$wide" height="$high"
  role="img" aria-labelledby="t d">
<title id="t">$title</title>
<desc id="d">$describe</desc>
<style>
  text { font: 14px $sans } .m { font: 14px $mono } .b { font-weight: bold } .h { font-size: 16px; font-weight: bold }
  .n { font-size: 13px } path, circle, rect { stroke-width: 1 }
  .l { fill: none; stroke-width: 1.5 } .l.edge { stroke-width: 1 } .d { stroke-dasharray: 4 4 }
$light\@media (prefers-color-scheme: dark) {
$dark}
</style>
END
	element('rect', x => 0.5, y => 0.5, width => $wide - 1, height => $high - 1, rx => 6, class => 'ground');
	return;
}

sub element
{
	my ($name, %attributes) = @_;
	$out .= "<$name" . join('', map { qq( $_="$attributes{$_}") } sort keys %attributes) . "/>\n";
	return;
}

# text X Y WHAT CLASSES [ANCHOR]. Its width is guessed, rather too wide.
sub text
{
	my ($x, $y, $what, $class, $anchor) = @_;
	$anchor //= 'start';
	my $size = $class =~ /\bh\b/ ? 16 : $class =~ /\bn\b/ ? 13 : 14;
	my $width = $size * length($what) * ($class =~ /\bm\b/ ? 0.61 : $class =~ /\b[bh]\b/ ? 0.55 : 0.52);
	my $left = $anchor eq 'start' ? $x : $anchor eq 'end' ? $x - $width : $x - $width / 2;
	my $box =
	  { what => $what, left => $left, right => $left + $width, top => $y - 0.75 * $size, bottom => $y + 0.22 * $size };
	die sprintf "pictures: '%s' is beyond the edge (%.0f to %.0f of %d)\n", $what, @$box{ 'left', 'right' }, $wide
	  if $left < 4 || $box->{right} > $wide - 4 || $box->{bottom} > $high - 2;
	for (@texts)
	{
		die "pictures: '$what' lies over '$_->{what}'\n"
		  if $box->{left} < $_->{right}
		  && $_->{left} < $box->{right}
		  && $box->{top} < $_->{bottom}
		  && $_->{top} < $box->{bottom};
	}
	push @texts, $box;
	$what =~ s/&/&amp;/g;
	$what =~ s/</&lt;/g;
	my $at = $anchor eq 'start' ? '' : qq( text-anchor="$anchor");
	$out .= qq(<text x="$x" y="$y"$at class="$class">$what</text>\n);
	return;
}

sub box
{
	my ($x, $y, $width, $height, $kind, %more) = @_;
	element('rect', x => $x, y => $y, width => $width, height => $height, class => "f-$kind edge", %more);
	return;
}

sub line
{
	my ($class, @points) = @_;
	element('path', class => "l $class", d => 'M' . join ' L', map { "$_->[0] $_->[1]" } @points);
	return;
}

# A line whose last piece ends in a tip.
sub arrow
{
	my ($colour, @points) = @_;
	line("l-$colour", @points);
	my ($from, $to) = @points[ -2, -1 ];
	my $length = sqrt(($to->[0] - $from->[0])**2 + ($to->[1] - $from->[1])**2);
	my ($dx, $dy) = map { 7 * ($to->[$_] - $from->[$_]) / $length } 0, 1;
	element(
		'path',
		class => "s-$colour",
		d => sprintf 'M%g %g L%.1f %.1f L%.1f %.1f Z',
		@$to,
		$to->[0] - $dx - $dy / 2, $to->[1] - $dy + $dx / 2, $to->[0] - $dx + $dy / 2, $to->[1] - $dy - $dx / 2);
	return;
}

sub finish
{
	my ($path) = @_;
	$picture{$path} = $out . "</svg>\n";
	return;
}

1;
