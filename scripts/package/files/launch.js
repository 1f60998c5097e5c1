/**
 * Starts the service in the folder of the user's data, and opens its page in the browser. If it is running already,
 * only opens the page. Started by "start-micwatch" and "Start Micwatch.cmd".
 */

import { spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { homedir, platform } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('./dist/main.js', import.meta.url))
const address = 'http://127.0.0.1:8080/'

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

async function isRunning() {
  try {
    const response = await fetch(`${address}healthz`, { signal: AbortSignal.timeout(2000) })
    return (await response.text()) === '{"status":"ok"}'
  } catch {
    return false
  }
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
    console.error(`Micwatch is listening at ${match[1]}`)
    open(match[1])
  })
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => service.kill(signal))
  service.on('close', (code) => {
    process.exitCode = code ?? 1
  })
}

if (process.argv.length === 2 && (await isRunning())) open(address)
else start(findHome())
