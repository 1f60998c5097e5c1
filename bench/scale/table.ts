/** Formats the figures as the Markdown tables of docs/scale.md. */

import type { LevelFigures } from './levels.ts'
import type { Measured } from './measure.ts'
import type { Topology } from './nodes.ts'
import type { SiteFigures } from './sites.ts'

type Result = Measured & { readonly topology: Topology }

/** Formats the figures of topologies, with one column for each. */
export function formatTable(results: readonly Result[]): string {
  const head = ['', ...results.map(({ topology }) => formatTopology(topology))]
  const rows = [
    perNode('devices polled by a node', ({ devices }) => devices),
    perNode('channels polled by a node', ({ channels }) => channels),
    perNode('clients of a node', ({ clients }) => clients),
    perNode('frames a node sends, /s', (node) => node.frames_per_second),
    perNode('CPU of a node, % of a core', (node) => node.cpu_percent),
    perNode('memory of a node, MB', (node) => node.resident_mb),
    perNode('poll of one system, ms', (node) => node.poll_ms),
    row(
      'change → client of the same node, p50 / p99 ms',
      ({ sameNode }) => `${formatValue(sameNode.p50_ms)} / ${formatValue(sameNode.p99_ms)}`,
    ),
    row('change → client of another node, p50 / p99 ms', ({ otherNode }) =>
      otherNode === null ? '–' : `${formatValue(otherNode.p50_ms)} / ${formatValue(otherNode.p99_ms)}`,
    ),
    row('changes missed', ({ missed }) => formatValue(missed)),
    ...Object.keys(results[0]?.servers ?? {}).map((name) =>
      row(name.replaceAll('_', ' ').replace(' per second', ', /s'), ({ servers }) =>
        formatValue(servers[name] ?? null),
      ),
    ),
  ].map((cells) => cells(results))
  return formatRows([head, ...rows])
}

/** The rate to which the figures of levels are extrapolated. */
const extrapolatedRate = 40_000

/** Formats the cost of levels as a Markdown table, with one column per audience. */
export function formatLevels(results: readonly LevelFigures[]): string {
  const cell = (show: (result: LevelFigures) => string) => results.map(show)
  const list = (values: readonly number[]) => values.map(formatValue).join(' / ')
  const percentAt = (rate: number) => (result: LevelFigures) =>
    list(result.cpu_us_per_sample.map((microseconds) => (microseconds * rate) / 1e4))
  return formatRows([
    [
      '',
      ...cell(({ name, cpu_us_per_sample: { length } }) => `${length === 1 ? 'one node' : `${length} nodes`}: ${name}`),
    ],
    ['samples, /s', ...cell((result) => formatValue(result.samples_per_second))],
    ['CPU of each node, µs per sample', ...cell((result) => list(result.cpu_us_per_sample))],
    ['the same at this rate, % of a core', ...results.map((result) => percentAt(result.samples_per_second)(result))],
    [
      `at ${extrapolatedRate.toLocaleString('en')} samples/s, % of a core (extrapolated)`,
      ...cell(percentAt(extrapolatedRate)),
    ],
    ['Redis in, bytes per sample', ...cell((result) => formatValue(result.redis_in_bytes))],
    ['Redis out, bytes per sample', ...cell((result) => formatValue(result.redis_out_bytes))],
    ['memory of each node, MB', ...cell((result) => list(result.resident_mb))],
  ])
}

/** Formats the cost of following many sites as a Markdown table. */
export function formatSites(figures: SiteFigures): string {
  const { sites, receivers, channels } = figures
  return formatRows([
    ['', `${sites} sites × ${receivers} receivers, ${channels.toLocaleString('en')} channels`],
    ['all sites connected after, s', formatValue(figures.connected_after_s)],
    ['processor time until then, s', formatValue(figures.connecting_cpu_s)],
    ['memory, MB', formatValue(figures.resident_mb)],
    ['CPU, nothing changes, % of a core', formatValue(figures.idle_cpu_percent)],
    [`CPU, ${formatValue(figures.changes_per_second)} changes/s, % of a core`, formatValue(figures.busy_cpu_percent)],
    ['GET /api/sites/, ms', formatValue(figures.list_ms)],
  ])
}

/** Formats rows of cells as a Markdown table; the first row is its head. */
function formatRows([head = [], ...rows]: readonly (readonly string[])[]): string {
  const widths = head.map((_, index) => Math.max(...[head, ...rows].map((cells) => cells[index]?.length ?? 0)))
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, index) => (index === 0 ? cell.padEnd(widths[index] ?? 0) : cell.padStart(widths[index] ?? 0))).join(' | ')} |`
  const separator = widths.map((width, index) => (index === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`))
  return [line(head), line(separator), ...rows.map(line)].join('\n')
}

export function formatTopology({ pollingNodes, displayNodes }: Topology): string {
  return displayNodes === 0 ? `${pollingNodes} × serve` : `${pollingNodes} × serve, ${displayNodes} × serve --no-poll`
}

type Row = (results: readonly Result[]) => readonly string[]

function row(name: string, show: (result: Result) => string): Row {
  return (results) => [name, ...results.map(show)]
}

/** Shows the range from minimum to maximum if the nodes differ. */
function perNode(name: string, read: (node: Measured['nodes'][number]) => number | null): Row {
  return row(name, ({ nodes }) => {
    const values = nodes.flatMap((node) => read(node) ?? [])
    if (values.length === 0) return '–'
    const [minimum, maximum] = [formatValue(Math.min(...values)), formatValue(Math.max(...values))]
    return minimum === maximum ? minimum : `${minimum} – ${maximum}`
  })
}

function formatValue(value: number | null): string {
  if (value === null || Number.isNaN(value)) return '–'
  const digits = Math.abs(value) >= 20 || Number.isInteger(value) ? 0 : 1
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}
