/** The processes that share this service, and which of them asks which system. */

import type { NodeBody, NodesBody } from '../../src/model/node.ts'
import { isObject } from '../api.ts'
import { plainText } from '../format.ts'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { Empty } from '../parts/empty.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Shell } from '../parts/shell.tsx'
import { useReading } from '../reading.ts'
import { useHasNodes } from '../sections.ts'
import { words } from '../words.ts'

const texts = words.nodes

const everyMs = 5_000

const columns: readonly Column<NodeBody>[] = [
  { key: 'owner', title: texts.columns.process, sortBy: ({ owner }) => owner, cell: processName },
  { key: 'work', title: texts.columns.work, sortBy: ({ work }) => work, cell: ({ work }) => texts.works[work] },
  {
    key: 'source',
    title: texts.columns.source,
    sortBy: ({ source }) => source,
    cell: ({ source }) => <bdi>{plainText(source)}</bdi>,
  },
  {
    key: 'manufacturer',
    title: texts.columns.manufacturer,
    sortBy: ({ manufacturer }) => manufacturer,
    cell: ({ manufacturer }) => manufacturer,
  },
  { key: 'epoch', title: texts.columns.epoch, align: 'end', cell: ({ epoch }) => epoch },
  { key: 'left', title: texts.columns.left, align: 'end', cell: ({ seconds_left }) => texts.seconds(seconds_left) },
]

export function Nodes() {
  const hasNodes = useHasNodes()
  return (
    <Shell page="nodes" title={texts.title} intro={texts.intro}>
      {hasNodes ? (
        <Present />
      ) : (
        <Empty title={texts.absent}>
          <p>{texts.absentNext}</p>
        </Empty>
      )}
    </Shell>
  )
}

function Present() {
  const reading = useReading('/api/admin/nodes/', isObject<NodesBody>, everyMs)
  return (
    <Loaded reading={reading}>
      {({ nodes, processes }) => (
        <>
          <p className="count">{texts.processes(processes.length)}</p>
          {nodes.length === 0 ? (
            <Empty title={texts.none}>
              <p>{texts.noneNext}</p>
            </Empty>
          ) : (
            <DataTable
              caption={texts.list}
              columns={columns}
              rows={nodes}
              idOf={({ work, source }) => `${work} ${source}`}
            />
          )}
          <ul>
            {idle(nodes, processes).map((one) => (
              <li key={one.owner}>{texts.idle(processName(one))}</li>
            ))}
          </ul>
        </>
      )}
    </Loaded>
  )
}

type Sharer = NodesBody['processes'][number]

function processName(one: Sharer): string {
  return plainText(texts.process(one))
}

function idle(nodes: readonly NodeBody[], processes: readonly Sharer[]): readonly Sharer[] {
  return processes.filter(({ owner }) => nodes.every((one) => one.owner !== owner))
}
