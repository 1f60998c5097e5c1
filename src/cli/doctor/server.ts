/** Checks that the ports of the service are free or used by it, and that its TLS certificate can be used. */

import { X509Certificate } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { createServer } from 'node:net'
import { join } from 'node:path'
import type { Config } from '../../config.ts'
import { pageNames } from '../../domain/pages.ts'
import { mcpPort } from '../../manufacturers/sennheiser/index.ts'
import { missingNames, readCertificatePair } from '../../storage/certificate.ts'
import { asServiceUser, type Finding, failed, isAccessDenied, passed, reasonOf, undetermined } from './check.ts'

const requestMs = 3_000

/** Reads a response of the service on this machine. Its certificate is not verified, because nothing secret is sent. */
export function readLocal(url: URL, maxChars = 10_000): Promise<string> {
  return new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest
    const signal = AbortSignal.timeout(requestMs)
    const request = send(url, { signal, rejectUnauthorized: false, agent: false }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part
        if (text.length > maxChars) response.destroy()
      })
      response.on('close', () => resolve(text)).on('error', reject)
    })
    request.on('error', reject).end()
  })
}

/** Checks that the service can listen on its port, or that it already does. */
export async function checkPort(config: Config): Promise<Finding> {
  const { host, port } = config.server
  if (port === 0) return passed('The service chooses a free port when it starts.')
  const listener = createServer()
  try {
    await once(listener.listen({ host, port }), 'listening')
    listener.close()
    return passed(`${host}:${port} is free; the service is not running.`)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    switch (code) {
      case 'EADDRINUSE':
        break
      case 'EADDRNOTAVAIL':
        return failed(
          `${host} is not an address of this machine. Set server.host to one of its addresses, or to 0.0.0.0.`,
        )
      case 'ENOTFOUND':
      case 'EAI_AGAIN':
        return failed(`The name ${host} in server.host does not resolve. Use an address of this machine.`)
      case 'EACCES':
        return undetermined(
          `This user may not listen on port ${port}. Use a port from 1024 to 65535, or run this command as the user of the service.`,
        )
      default:
        return failed(`The service cannot listen on ${host}:${port}: ${reasonOf(error)}.`)
    }
  }
  const address = localAddressOf(config)
  if (await isServing(address)) return passed(`The service responds at ${address}/.`)
  return failed(
    `Port ${port} of ${host} is in use by another program, or by a service that does not respond. End it, or choose another port with server.port.`,
  )
}

/** Returns the address of the service on this machine, without a final slash. */
export function localAddressOf({ server: { host, port, mount }, tls }: Config): string {
  const local = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '[::1]' : host.includes(':') ? `[${host}]` : host
  return `${tls === null ? 'http' : 'https'}://${local}:${port}${mount}`
}

export async function isServing(address: string): Promise<boolean> {
  const response = await readLocal(new URL(`${address}/healthz`)).catch(() => null)
  return response === '{"status":"ok"}'
}

/** Checks the OSC port, UDP and TCP. */
export async function checkOscPort(config: Config, { host, port }: Listener): Promise<Finding> {
  const name = `${host}:${port}`
  try {
    await bindUdp(port, host)
    const listener = createServer()
    await once(listener.listen({ host, port }), 'listening')
    listener.close()
    return passed(`${name} is free; the service is not running.`)
  } catch (error) {
    if (!isInUse(error)) return failed(`The service cannot listen on ${name} (osc.listen): ${reasonOf(error)}.`)
    if (await isServing(localAddressOf(config)))
      return passed(
        `${name} is in use, and the service runs. If another program uses it, the page ${pageNames.about} says so.`,
      )
    return failed(`${name} is in use by another program. End it, or choose another port with osc.listen.`)
  }
}

interface Listener {
  readonly host: string
  readonly port: number
}

/** Checks the port to which devices with MCP reply. `isPolled` is true if a service polls such a device. */
export async function checkMcpPort(isPolled: boolean): Promise<Finding> {
  try {
    await bindUdp(mcpPort, '0.0.0.0')
    return passed(`UDP port ${mcpPort} is free.`)
  } catch (error) {
    if (!isInUse(error)) return undetermined(`UDP port ${mcpPort} could not be checked: ${reasonOf(error)}.`)
    if (isPolled) return passed(`The service receives on UDP port ${mcpPort}.`)
    return failed(
      `UDP port ${mcpPort} is in use by another program, such as Wireless Systems Manager. Devices with MCP reply only to this port: end that program, or run it on another machine.`,
    )
  }
}

function isInUse(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
}

/** Binds the port and releases it. Throws the system's error on failure. */
async function bindUdp(port: number, host: string): Promise<void> {
  const socket = createSocket({ type: host.includes(':') ? 'udp6' : 'udp4' })
  try {
    socket.bind({ port, address: host, exclusive: true })
    await once(socket, 'listening')
  } finally {
    socket.close()
  }
}

const dayMs = 24 * 3_600_000
/** A certificate should be renewed earlier than this. */
const soonDays = 14

export async function checkCertificate(config: Config, now: number): Promise<Finding> {
  const { tls, data_dir } = config
  if (tls === null)
    return passed('TLS is off: traffic is not encrypted. To encrypt it, set tls to auto, or to your own certificate.')
  const files = tls === 'auto' ? { cert: join(data_dir, 'tls.crt'), key: join(data_dir, 'tls.key') } : tls
  if (tls === 'auto' && !existsSync(files.cert)) return passed('The next start creates a self-signed certificate.')
  try {
    const { cert } = await readCertificatePair(files)
    return judge(new X509Certificate(cert), files.cert, config, now)
  } catch (error) {
    return error instanceof Error && isAccessDenied(error.cause)
      ? undetermined(`${reasonOf(error)}. ${asServiceUser}`)
      : failed(`${reasonOf(error)}.`)
  }
}

function judge(certificate: X509Certificate, path: string, { tls, server }: Config, now: number): Finding {
  const days = Math.floor((Date.parse(certificate.validTo) - now) / dayMs)
  const renew =
    tls === 'auto'
      ? 'Restart the service, which renews it.'
      : 'Renew it; the service reads the new files automatically.'
  const until = certificate.validTo
  if (Date.parse(certificate.validFrom) > now)
    return failed(`The certificate ${path} is valid from ${certificate.validFrom}. Check the clock of this machine.`)
  if (days < 0) return failed(`The certificate ${path} expired on ${until}. ${renew}`)
  if (days < soonDays) return failed(`The certificate ${path} expires in ${days} days, on ${until}. ${renew}`)
  const publicName = server.public_url === null ? [] : [new URL(server.public_url).hostname.replace(/^\[|\]$/g, '')]
  const names = [...new Set([...publicName, ...server.allowed_hosts])]
  const missing = missingNames(certificate, names)
  // Browsers warn about a self-signed certificate whatever its names.
  if (missing.length === 0 || tls === 'auto')
    return passed(`The certificate ${path} is valid until ${until} (${days} days).`)
  return failed(
    `The certificate ${path} is not valid for ${missing.join(', ')}, so browsers reject it there. Request one that includes these names, or remove them from server.allowed_hosts and server.public_url.`,
  )
}
