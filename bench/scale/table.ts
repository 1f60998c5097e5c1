/** Formats the figures as the Markdown table of docs/scale.md, with one column per topology. */

import type { Measured } from './measure.ts'
import type { Topology } from './nodes.ts'

type Result = Measured & { readonly topology: Topology }

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
