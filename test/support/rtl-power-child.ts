/**
 * Simulates `rtl_power` with `-f from:to:step` and `-i seconds`: rows of one hop each on standard output, flushed per
 * sweep. A signal ends it after its pass. `RTL_POWER_FAULT`: `no-device`, or `unplugged` after the second sweep.
 */

import { setTimeout as pause } from 'node:timers/promises'

const hopMhz = 2
const args = process.argv.slice(2)
const optionOf = (name: string) => args[args.indexOf(name) + 1] ?? ''
const [fromHz = 0, toHz = 0, stepHz = 0] = optionOf('-f')
  .split(':')
  .map((text) => Number.parseFloat(text) * (text.endsWith('M') ? 1e6 : text.endsWith('k') ? 1e3 : 1))
const intervalMs = Number(optionOf('-i') || 10) * 1000
const fault = process.env.RTL_POWER_FAULT

let isEnding = false
for (const name of ['SIGINT', 'SIGTERM'] as const) {
  process.on(name, () => {
    process.stderr.write('Signal caught, exiting!\n')
    isEnding = true
  })
}

process.stderr.write('Number of frequency hops: 1\n')
if (fault === 'no-device') {
  process.stderr.write('No supported devices found.\n')
  process.exit(1)
}
for (let sweeps = 1; !isEnding; sweeps += 1) {
  process.stdout.write(rowsAt(new Date()))
  if (fault === 'unplugged' && sweeps === 2) {
    process.stderr.write('WARNING: bad retune.\n')
    process.exit(1)
  }
  await pause(intervalMs)
}
process.exit(0)

function rowsAt(time: Date): string {
  const pad = (value: number) => String(value).padStart(2, '0')
  const date = `${time.getFullYear()}-${pad(time.getMonth() + 1)}-${pad(time.getDate())}`
  const clock = [time.getHours(), time.getMinutes(), time.getSeconds()].map(pad).join(':')
  const rows = []
  for (let low = fromHz; low < toHz; low += hopMhz * 1e6) {
    const high = Math.min(toHz, low + hopMhz * 1e6)
    const levels = Array.from({ length: Math.round((high - low) / stepHz) + 1 }, (_, index) =>
      (-71 - (index % 5)).toFixed(2),
    )
    rows.push(`${date}, ${clock}, ${low}, ${high}, ${stepHz.toFixed(2)}, 1, ${levels.join(', ')}\n`)
  }
  return rows.join('')
}
