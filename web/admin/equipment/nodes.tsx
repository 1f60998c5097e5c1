import type { NodesBody } from '../../../src/contract/health.ts'
import { addressOf } from '../../../src/domain/equipment/health.ts'
import { formatDuration, plainText } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import { useResource } from '../../app/resource.ts'
import { useHasNodes } from '../../app/sections.ts'
import { Shell } from '../../app/shell.tsx'
import { Empty } from '../../parts/empty.tsx'
import { ManufacturerName } from '../../parts/equipment/manufacturer-names.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { type Column, DataTable } from '../../parts/tables/data-table.tsx'

type NodeBody = NodesBody['nodes'][number]

/** No message announces a change of this list. */
const topics = [] as const

const columns: readonly Column<NodeBody>[] = [
  { key: 'owner', title: t('nodes.columns.process'), sortBy: ({ owner }) => owner, cell: processName },
  {
    key: 'work',
    title: t('nodes.columns.task'),
    sortBy: ({ work }) => work,
    cell: ({ work }) => t(`nodes.tasks.${work}`),
  },
  {
    key: 'source',
    title: t('nodes.columns.source'),
    sortBy: ({ source }) => source,
    cell: ({ source, manufacturer }) => <bdi>{plainText(addressOf(source, manufacturer))}</bdi>,
  },
  {
    key: 'manufacturer',
    title: t('nodes.columns.manufacturer'),
    sortBy: ({ manufacturer }) => manufacturer,
    cell: ({ manufacturer }) => <ManufacturerName code={manufacturer} />,
  },
  { key: 'epoch', title: t('nodes.columns.epoch'), align: 'end', cell: ({ epoch }) => epoch },
  {
    key: 'left',
    title: t('nodes.columns.left'),
    align: 'end',
    cell: ({ seconds_left }) => formatDuration(seconds_left * 1000),
  },
]

export function Nodes() {
  const hasNodes = useHasNodes()
  return (
    <Shell title={t('nodes.title')} intro={t('nodes.intro')}>
      {hasNodes ? (
        <Present />
      ) : (
        <Empty title={t('nodes.unsupported')}>
          <p>{t('nodes.unsupportedNext')}</p>
        </Empty>
      )}
    </Shell>
  )
}

function Present() {
  const resource = useResource('/api/admin/nodes/', 'object', topics)
  return (
    <Loaded resource={resource}>
      {({ nodes, processes }) => (
        <>
          <p className="count">{t('nodes.processes', { count: processes.length })}</p>
          {nodes.length === 0 ? (
            <Empty title={t('nodes.none')}>
              <p>{t('nodes.noneNext')}</p>
            </Empty>
          ) : (
            <DataTable
              caption={t('nodes.list')}
              columns={columns}
              rows={nodes}
              idOf={({ work, source }) => `${work} ${source}`}
            />
          )}
          <ul>
            {idle(nodes, processes).map((item) => (
              <li key={item.owner}>{t('nodes.idle', { name: processName(item) })}</li>
            ))}
          </ul>
        </>
      )}
    </Loaded>
  )
}

type NodeProcess = NodesBody['processes'][number]

function processName(node: NodeProcess): string {
  return plainText(t('nodes.process', { host: node.host, pid: node.pid }))
}

function idle(nodes: readonly NodeBody[], processes: readonly NodeProcess[]): readonly NodeProcess[] {
  return processes.filter(({ owner }) => nodes.every((node) => node.owner !== owner))
}
