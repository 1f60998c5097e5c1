/** Two network namespaces that are connected by several networks: one for the service, one for equipment. Requires root. */

import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { promisify } from 'node:util'
import { onTestEnd } from '../cleanup.ts'
import { findProgram } from '../debian-package.ts'
import type { HttpResponse } from '../http-client.ts'

const run = promisify(execFile)

export interface Namespaces {
  /** A command to which the command line of a program that runs in the namespace of the service is appended. */
  readonly serviceLauncher: readonly string[]
  /** Starts a module on the side of the equipment; it ends with the test. */
  startEquipment(module: string): void
  /** Sends a request to an address in the namespace of the service. */
  request(address: string, method?: string, body?: object): Promise<Pick<HttpResponse, 'status' | 'json'>>
  /** Takes an interface of the service down. */
  disconnect(interfaceName: string): Promise<void>
}

/**
 * Each name becomes an interface of the service with the address 10.77.<n>.1, and 10.77.<n>.2 on the side of the
 * equipment, counted from 1. Those in `unanswered` lead nowhere.
 */
export async function createNamespaces(
  connected: readonly string[],
  unanswered: readonly string[],
): Promise<Namespaces> {
  const ip = await findProgram('ip', 'iproute2')
  const names = { service: `mw-${process.pid}-s`, equipment: `mw-${process.pid}-e` }
  for (const name of Object.values(names)) {
    await run(ip, ['netns', 'add', name])
    onTestEnd(async () => void (await run(ip, ['netns', 'del', name])))
    await run(ip, ['-n', name, 'link', 'set', 'lo', 'up'])
  }
  for (const [index, name] of [...connected, ...unanswered].entries()) {
    const end = `peer${index}`
    const peer = ['peer', 'name', end, 'netns', names.equipment]
    await run(ip, ['-n', names.service, 'link', 'add', name, 'type', 'veth', ...peer])
    await openInterface(names.service, name, `10.77.${index + 1}.1/24`)
    await openInterface(names.equipment, end, connected.includes(name) ? `10.77.${index + 1}.2/24` : null)
  }

  async function openInterface(namespace: string, name: string, address: string | null): Promise<void> {
    if (address !== null) await run(ip, ['-n', namespace, 'address', 'add', address, 'dev', name])
    await run(ip, ['-n', namespace, 'link', 'set', name, 'up'])
  }

  const serviceLauncher = [ip, 'netns', 'exec', names.service]
  return {
    serviceLauncher,
    startEquipment(module) {
      const argv = ['netns', 'exec', names.equipment, process.execPath, '--import', 'tsx', module]
      const child = spawn(ip, argv, { stdio: ['pipe', 'ignore', 'inherit'] })
      const ended = once(child, 'close')
      onTestEnd(async () => {
        child.kill()
        await ended
      })
    },
    async request(address, method = 'GET', body) {
      const options = { method, headers: { 'content-type': 'application/json' }, body: body && JSON.stringify(body) }
      const script = `const response = await fetch(${JSON.stringify(address)}, ${JSON.stringify(options)})
        console.log(JSON.stringify({ status: response.status, json: await response.json() }))`
      const [program = '', ...argv] = serviceLauncher
      const { stdout } = await run(program, [...argv, process.execPath, '--input-type=module', '--eval', script])
      return JSON.parse(stdout)
    },
    async disconnect(interfaceName) {
      await run(ip, ['-n', names.service, 'link', 'set', interfaceName, 'down'])
    },
  }
}
