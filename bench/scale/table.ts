/** The figures side by side, a column for each number of nodes: as it stands in docs/scale.md. */

import type { Measured } from './measure.ts'
import type { Staffing } from './nodes.ts'

type Result = Measured & { readonly staffing: Staffing }

export function formatTable(results: readonly Result[]): string {
  const head = ['', ...results.map(({ staffing }) => nameOf(staffing))]
  const rows = [
    perNode('devices polled by a node', ({ devices }) => devices),
    perNode('channels polled by a node', ({ channels }) => channels),
    perNode('clients of a node', ({ clients }) => clients),
    perNode('frames a node sends, /s', (node) => node.frames_per_second),
    perNode('CPU of a node, % of a core', (node) => node.cpu_percent),
    perNode('memory of a node, MB', (node) => node.resident_mb),
    perNode('poll of one system, ms', (node) => node.poll_ms),
    row('change → client of the same node, p50 / p99 ms', ({ own }) => `${show(own.p50_ms)} / ${show(own.p99_ms)}`),
    row('change → client of another node, p50 / p99 ms', ({ other }) =>
      other === null ? '–' : `${show(other.p50_ms)} / ${show(other.p99_ms)}`,
    ),
    row('changes missed', ({ missed }) => show(missed)),
    ...Object.keys(results[0]?.servers ?? {}).map((name) =>
      row(name.replaceAll('_', ' ').replace(' per second', ', /s'), ({ servers }) => show(servers[name] ?? null)),
    ),
  ].map((cells) => cells(results))
  const widths = head.map((_, at) => Math.max(...[head, ...rows].map((cells) => cells[at]?.length ?? 0)))
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join(' | ')} |`
  const rule = widths.map((width, at) => (at === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`))
  return [line(head), line(rule), ...rows.map(line)].join('\n')
}

export function nameOf({ polling, screens }: Staffing): string {
  return screens === 0 ? `${polling} × serve` : `${polling} × serve, ${screens} × serve --no-poll`
}

type Row = (results: readonly Result[]) => readonly string[]

function row(name: string, show: (result: Result) => string): Row {
  return (results) => [name, ...results.map(show)]
}

/** Least to most, where nodes differ. */
function perNode(name: string, of: (node: Measured['nodes'][number]) => number | null): Row {
  return row(name, ({ nodes }) => {
    const values = nodes.flatMap((node) => of(node) ?? [])
    if (values.length === 0) return '–'
    const [least, most] = [show(Math.min(...values)), show(Math.max(...values))]
    return least === most ? least : `${least} – ${most}`
  })
}

function show(value: number | null): string {
  if (value === null || Number.isNaN(value)) return '–'
  const digits = Math.abs(value) >= 20 || Number.isInteger(value) ? 0 : 1
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}
