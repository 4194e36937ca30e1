/** Small programs that behaviours put into a cell and run there. */

/** Bash scripts by name. */
export const programs = {
  /** Paints the alternate screen, waits for a key, and restores the screen as it was. */
  'alternate-screen': String.raw`printf '\033[?1049h\033[2J\033[3;5Hinside the screen'
read -rsn1 key
printf '\033[?1049l'
echo "left with $key"`,
  /** Writes bytes that are not text to both standard streams. */
  'both-streams': String.raw`printf 'out\000\377\r\n\033[1m'
printf 'err\376\n' >&2`,
  /**
   * Prints how many processes have $WORD among their arguments. The word comes by the environment, so that this
   * program does not find itself. It starts no process, so that the look is quick.
   */
  'count-processes': `count=0
for file in /proc/[0-9]*/cmdline; do
  { mapfile -d '' -t words <"$file"; } 2>/dev/null || continue
  if [[ \${words[*]} == *"$WORD"* ]]; then count=$((count + 1)); fi
done
echo "$count"`,
  /** Leaves a process behind that has another parent and another session, named by the first argument. */
  detach: `setsid bash -c '(exec -a "$1" sleep 1000) & disown' starter "$1" </dev/null >/dev/null 2>&1
echo detached`,
  /** Draws a progress bar the way curl, pip and npm do. */
  'progress-bar': String.raw`for percent in 0 25 50 75 100; do
  printf '\r\033[KDownloading %3d%%' "$percent"
done
printf '\nfinished\n'`,
  /** Leaves the terminal without echo, without line editing and without signals. */
  'raw-terminal': String.raw`stty raw -echo
printf 'raw\n'`,
  /**
   * Ignores every signal that a process can ignore, and so does its child, which has the first argument as its name.
   */
  stubborn: `trap '' INT TERM HUP QUIT TSTP
(exec -a "$1" sleep 1000) &
echo started
wait`,
} as const;
