# The single-call table as bars: ns of processor time, on a logarithmic axis.
# gnuplot -e "data='FILE'; output_file='FILE'" chart.gnuplot; data: what, tab, ns, slowest first.
set terminal svg size 760,400 dynamic noenhanced font 'sans-serif,13' background '#ffffff'
set output output_file
set datafile separator "\t"
set title 'One id, ns of processor time, net of the scan (logarithmic; shorter is better)' font ',13' offset -10,0
set logscale x
set xrange [1:*]
set yrange [-0.7:*]
set xtics nomirror out
set ytics nomirror scale 0
set border 3 lc rgb '#888888'
set grid xtics lc rgb '#dddddd'
set style fill solid noborder
set lmargin 28
set rmargin 6
unset key
ours(s) = s[1:4] eq 'gen_' && s ne 'gen_random_uuid()' ? 1 : 0
plot data using ($2 / 2):0:(1):2:($0 - 0.35):($0 + 0.35):(ours(strcol(1)) ? 0x2a78b8 : 0xb0b0b0):ytic(1) with boxxyerror lc rgb variable, \
     data using 2:0:(sprintf('  %.0f', $2)) with labels left font ',12'
