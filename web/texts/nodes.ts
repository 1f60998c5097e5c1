/** The processes that share this service. */

export const nodeTexts = {
  title: 'Nodes',
  intro:
    'The processes that work on this database, and which of them asks which system. When one ends, another takes over ' +
    'what it held as soon as its lease has run out.',
  list: 'Who asks whom',
  processes: (count: number) => (count === 1 ? '1 process runs' : `${count} processes run`),
  idle: (name: string) => `${name} holds nothing at present: it is ready to take over.`,
  none: 'No process asks anything at present',
  noneNext: 'Either no manufacturer is enabled, or the process that polls has just started.',
  absent: 'This service tells nothing of its processes',
  absentNext: 'It is older than this page. Bring it up to date, and look again.',
  columns: {
    process: 'Process',
    work: 'Does',
    source: 'System',
    manufacturer: 'Manufacturer',
    epoch: 'Changes of hands',
    left: 'Lease runs out in',
  },
  process: ({ host, pid }: { host: string; pid: number }) => `process ${pid} on ${host}`,
  works: { polling: 'polls', link: 'keeps the real-time link' },
  seconds: (left: number) => `${Math.max(0, Math.round(left))} s`,
} as const
