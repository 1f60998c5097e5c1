import type { SlotMove } from '../../src/contract/channels.ts'
import type { PlaceholderBody } from '../../src/contract/placeholders.ts'
import type { Api, ApiResponse } from '../app/api.ts'
import type { Edit, Move } from '../app/arrangement.ts'

export async function applyEdit(api: Api, edit: Edit): Promise<ApiResponse<Edit>> {
  switch (edit.type) {
    case 'move':
      return mapped(await api.write('PUT', '/api/slots/', { moves: edit.moves.map(toSlotMove) }, 'object'), () => edit)
    case 'add_placeholder': {
      const response = await api.write('POST', '/api/placeholders/', fieldsOf(edit.placeholder), 'object')
      return mapped(response, (placeholder) => ({ ...edit, placeholder }))
    }
    case 'change_placeholder': {
      const { id } = edit.after
      const response = await api.write('PATCH', `/api/placeholders/${id}/`, fieldsOf(edit.after), 'object')
      return mapped(response, (after) => ({ ...edit, after }))
    }
    case 'delete_placeholder':
      return mapped(
        await api.write('DELETE', `/api/placeholders/${edit.placeholder.id}/`, undefined, 'nothing'),
        () => edit,
      )
    case 'change_group': {
      const { id, ...fields } = edit.after
      return mapped(await api.write('PUT', `/api/groups/${id}/`, fields, 'object'), (after) => ({ ...edit, after }))
    }
    case 'create_group': {
      const { id: _, ...fields } = edit.group
      return mapped(await api.write('POST', '/api/group/', fields, 'object'), (group) => ({ ...edit, group }))
    }
    case 'delete_group':
      return mapped(await api.write('DELETE', `/api/groups/${edit.group.id}/`, undefined, 'nothing'), () => edit)
    default:
      return edit satisfies never
  }
}

function toSlotMove({ kind, id, to }: Move): SlotMove {
  return kind === 'channel' ? { channel_id: id, slot: to } : { placeholder_id: id, slot: to }
}

function fieldsOf({ slot, name, kind, frequency, note }: PlaceholderBody): Omit<PlaceholderBody, 'id'> {
  return { slot, name, kind, frequency, note }
}

function mapped<Body>(response: ApiResponse<Body>, toEdit: (body: Body) => Edit): ApiResponse<Edit> {
  return response.ok ? { ok: true, body: toEdit(response.body) } : response
}
