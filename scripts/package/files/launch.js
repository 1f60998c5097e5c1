/**
 * Starts the service in the folder of the user's data, and opens its page in the browser. If it is running already,
 * only opens the page. Started by "start-micwatch" and "Start Micwatch.cmd".
 */

import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { homedir, platform } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('./dist/main.js', import.meta.url))

/** Where the database and micwatch.yaml are. It stays when the program's folder is replaced by a newer one. */
function findHome() {
  if (process.env.MICWATCH_HOME) return process.env.MICWATCH_HOME
  if (platform() === 'win32') return join(process.env.LOCALAPPDATA ?? homedir(), 'Micwatch')
  if (platform() === 'darwin') return join(homedir(), 'Library/Application Support/Micwatch')
  return join(process.env.XDG_DATA_HOME || join(homedir(), '.local/share'), 'micwatch')
}

function open(url) {
  const [command, ...args] =
    platform() === 'win32'
      ? ['cmd', '/c', 'start', '', url]
      : platform() === 'darwin'
        ? ['open', url]
        : ['xdg-open', url]
  const child = spawn(command, args, { stdio: 'ignore', detached: true })
  child.on('error', () => console.error(`Open ${url} in a browser.`))
  child.unref()
}

/** Replaces an address that means all networks by one of this machine. */
function toLocal(address) {
  const url = new URL(address)
  if (url.hostname === '0.0.0.0') url.hostname = '127.0.0.1'
  if (url.hostname === '[::]') url.hostname = '[::1]'
  return url.href
}

/** The file in which the launcher keeps the address at which the service listens. */
const addressFile = (home) => join(home, 'address')

/** Returns the address of the service that was started last in this folder; null if it does not respond. */
async function findRunning(home) {
  try {
    const address = toLocal(readFileSync(addressFile(home), 'utf8').trim())
    return (await readHealth(`${address}healthz`)) === '{"status":"ok"}' ? address : null
  } catch {
    return null
  }
}

/** The certificate is not verified, because nothing secret is sent. */
function readHealth(url) {
  const send = url.startsWith('https:') ? httpsRequest : httpRequest
  return new Promise((resolve, reject) => {
    const request = send(url, { signal: AbortSignal.timeout(2000), rejectUnauthorized: false }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part) => {
        text += part
      })
      response.on('close', () => resolve(text))
    })
    request.on('error', reject).end()
  })
}

function start(home) {
  mkdirSync(home, { recursive: true, mode: 0o700 })
  console.error(`Micwatch keeps its data in ${home}. To stop it, press Ctrl+C or close this window.`)
  const args = [program, 'serve', '--json', ...process.argv.slice(2)]
  const service = spawn(process.execPath, args, { cwd: home, stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  service.stdout.setEncoding('utf8').on('data', (text) => {
    if (output === null) return
    output += text
    const match = /"address": "([^"]+)"/.exec(output)
    if (match === null) return
    output = null
    const address = toLocal(match[1])
    writeFileSync(addressFile(home), `${address}\n`)
    console.error(`Micwatch is listening at ${address}`)
    open(address)
  })
  // A terminal sends Ctrl+C to the service too, and a second one would end it at once. On Windows, `kill` always does.
  process.on('SIGINT', () => {})
  if (platform() !== 'win32') process.on('SIGTERM', () => service.kill('SIGTERM'))
  service.on('close', (code) => {
    process.exitCode = code ?? 1
  })
}

const home = findHome()
const running = process.argv.length === 2 ? await findRunning(home) : null
if (running === null) start(home)
else open(running)
