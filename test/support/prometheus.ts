/** Runs a real Prometheus that receives remote write or scrapes; on Debian it is installed on demand. */

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from '../../scripts/free-port.ts'
import { until } from './app.ts'
import { findProgram } from './debian-package.ts'

export interface Prometheus {
  readonly writeUrl: string
  start(): Promise<void>
  /** Ends the process as a service manager does. Its data is kept. */
  end(): Promise<void>
  /** Returns the stored samples of a series by its time in epoch seconds. */
  read(series: string, range: { readonly from: number; readonly to: number }): Promise<ReadonlyMap<number, number>>
  /** Returns the labels and values of a query's result. Throws if the query is invalid. */
  query(expression: string): Promise<readonly QueryResult[]>
  /** Ends the process and removes its data. */
  remove(): Promise<void>
}

export interface QueryResult {
  readonly metric: Readonly<Record<string, string>>
  readonly value: readonly [number, string]
}

/** `scrapeConfigs`: nothing is scraped by default. */
export async function preparePrometheus(scrapeConfigs: readonly object[] = []): Promise<Prometheus> {
  const program = await findPrometheus('prometheus')
  const folder = await mkdtemp(join(tmpdir(), 'micwatch-prometheus-'))
  const config = join(folder, 'prometheus.yml')
  await writeFile(config, JSON.stringify({ scrape_configs: scrapeConfigs }))
  const address = `127.0.0.1:${await freePort()}`
  let server: ChildProcess | undefined
  const end = async () => {
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return
    const exited = once(server, 'exit')
    server.kill('SIGTERM')
    await exited
  }
  return {
    writeUrl: `http://${address}/api/v1/write`,
    async start() {
      const storage = `--storage.tsdb.path=${join(folder, 'data')}`
      const options = [`--config.file=${config}`, storage, `--web.listen-address=${address}`]
      server = spawn(program, [...options, '--web.enable-remote-write-receiver'], { stdio: 'ignore' })
      await until('Prometheus is ready', async () => (await fetch(`http://${address}/-/ready`)).ok)
    },
    end,
    async read(series, { from, to }) {
      const query = new URLSearchParams({ query: `${series}[${to - from}s]`, time: String(to) })
      const response = await fetch(`http://${address}/api/v1/query?${query}`)
      const { data } = (await response.json()) as { data: { result: { values: [number, string][] }[] } }
      return new Map(data.result[0]?.values.map(([time, value]) => [time, Number(value)]))
    },
    async query(expression) {
      const response = await fetch(`http://${address}/api/v1/query?${new URLSearchParams({ query: expression })}`)
      const { data, error } = (await response.json()) as { data?: { result: QueryResult[] }; error?: string }
      if (data === undefined) throw new Error(`${expression}: ${error}`)
      return data.result
    },
    async remove() {
      await end()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Returns the path of `prometheus` or `promtool`. */
export function findPrometheus(name: 'prometheus' | 'promtool'): Promise<string> {
  // The package starts services where there is a service manager.
  const services = ['prometheus', 'prometheus-node-exporter']
  return findProgram(name, 'prometheus', () =>
    promisify(execFile)('systemctl', ['disable', '--now', ...services]).catch(() => {}),
  )
}
