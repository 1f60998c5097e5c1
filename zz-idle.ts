import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync, mkdtempSync } from 'node:fs'
const T=process.env.TREE ?? '/work/trees/svc/'
const mode = process.argv[2] ?? 'system', secs = Number(process.argv[3] ?? 60)
const dir = mkdtempSync('/tmp/svcidle')
let config: any, end: (()=>any)[] = []
if (mode === 'system') {
  const { startShureSimulator } = await import(T+'simulators/shure/device-api.ts')
  const sim = await startShureSimulator({ rateLimit: { perSecond: 10_000, burst: 10_000 }, story: false, receivers: 100, channelsPerReceiver: 4 })
  end.push(()=>sim.close()); config = { ...sim.config, calls_per_second: 1000, burst: 1000 }
} else if (mode === 'none') { config = null } else {
  const { startRack } = await import(T+'bench/devices.ts')
  const rack = await startRack((f:any)=>end.push(f), 100)
  config = { devices: rack.ports.map((p:number)=>`tcp://127.0.0.1:${p}`), timeout: 30 }
  ;(globalThis as any).clearMeters?.()
}
writeFileSync(dir+'/m.yaml', JSON.stringify({ server: { port: 0 }, manufacturers: config === null ? [] : [{ code: 'shure', config }], database_url: process.env.DBURL ?? `sqlite:${dir}/a.db` }))
const child = spawn(process.execPath, [...(process.env.PROF ? ['--cpu-prof','--cpu-prof-dir='+process.env.PROF] : []), ...(process.env.SRC ? ['--import','tsx',T+'src/cli/program.ts'] : [T+'dist/main.js']),'serve','--json','--config',dir+'/m.yaml','--data-dir',dir+'/data'], { stdio: ['ignore','pipe','inherit'] })
let out=''; child.stdout.on('data',d=>out+=d)
await new Promise(r=>setTimeout(r,15000))
process.on('exit',()=>child.kill('SIGTERM'))
const addr = JSON.parse(out.trim().split('\n').find(l=>l.includes('"address"'))!).address
const n = (await (await fetch(addr+'api/data.json')).json()).receivers.length
const cpu = () => { const f = readFileSync(`/proc/${child.pid}/stat`,'utf8').split(') ')[1]!.split(' '); return (Number(f[11])+Number(f[12]))*10 }
const a = cpu(); await new Promise(r=>setTimeout(r,secs*1000)); const b = cpu()
console.log(mode, 'receivers', n, 'cpu ms/s', ((b-a)/secs).toFixed(2))
child.kill('SIGTERM'); await new Promise(r=>child.on('exit',r)); for (const e of end.toReversed()) await e()
process.exit(0)
