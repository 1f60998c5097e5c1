/** The processes that use the database. */

import Type from 'typebox'
import { type Body, listOf, named, oneOf, text, whole } from '../described.ts'
import { manufacturer } from './common.ts'

const processFields = {
  owner: text('Id under which the process holds leases.'),
  host: text('Host name of the machine on which the process runs.'),
  pid: whole('Process id.'),
}

export const Nodes = named('Nodes', 'The processes that use this database, and the sources assigned to them.', {
  nodes: listOf(
    Type.Object({
      ...processFields,
      work: oneOf(
        ['polling', 'link'],
        '`polling`: the process polls the source; `link`: it runs the real-time subscription.',
      ),
      source: text('The source: code of the manufacturer, colon, address.'),
      manufacturer,
      epoch: whole('Incremented when another process takes over.'),
      seconds_left: whole('Seconds until the lease expires unless it is renewed.'),
    }),
    'The sources, each with the process that currently holds it.',
  ),
  processes: listOf(Type.Object(processFields), 'All running processes, with or without a source.'),
})
export type NodesBody = Body<typeof Nodes>
