/** XML of other programs as a tree, with limits. */

import { SaxesParser } from 'saxes'
import { CoordinationFileError, parseKhz } from './coordination.ts'

/** Workbench and WSM use nine levels, and about a thousand elements for each device. */
const maxDepth = 20
const maxElements = 200_000

export interface XmlElement {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  readonly children: readonly XmlElement[]
  /** Its own text, without that of its children. */
  readonly text: string
  /** The line of its start tag. */
  readonly line: number
}

interface OpenElement extends XmlElement {
  readonly children: XmlElement[]
  text: string
}

/** Throws a `CoordinationFileError` for a document type other than `doctype`; entities are not read. */
export function parseXml(text: string, { doctype }: { readonly doctype: string }): XmlElement {
  const parser = new SaxesParser()
  const open: OpenElement[] = []
  let root: XmlElement | undefined
  let elements = 0
  parser.on('error', () => {
    throw new CoordinationFileError(`Line ${parser.line}: the file is not well-formed XML, or is not complete.`)
  })
  parser.on('doctype', (type) => {
    if (type.trim() === doctype) return
    throw new CoordinationFileError(`Line ${parser.line}: files with this document type (DOCTYPE) are not read.`)
  })
  parser.on('opentag', ({ name, attributes }) => {
    elements += 1
    if (elements > maxElements) throw new CoordinationFileError(`The file has more than ${maxElements} elements.`)
    if (open.length >= maxDepth) throw new CoordinationFileError(`Line ${parser.line}: elements are nested too deep.`)
    const element = { name, attributes, children: [], text: '', line: parser.line }
    open.at(-1)?.children.push(element)
    open.push(element)
    root ??= element
  })
  const addText = (part: string) => {
    const element = open.at(-1)
    if (element !== undefined) element.text += part
  }
  parser.on('text', addText)
  parser.on('cdata', addText)
  parser.on('closetag', () => {
    open.pop()
  })
  parser.write(text).close()
  if (root === undefined) throw new CoordinationFileError('The file is empty.')
  return root
}

export function childrenOf(element: XmlElement | undefined, name: string): readonly XmlElement[] {
  return element?.children.filter((child) => child.name === name) ?? []
}

/** Returns the elements at a path below the element, such as `FrequencyManager/Devices/Device`. */
export function elementsAt(element: XmlElement | undefined, path: string): readonly XmlElement[] {
  const start = element === undefined ? [] : [element]
  return path
    .split('/')
    .reduce<readonly XmlElement[]>((found, name) => found.flatMap((at) => childrenOf(at, name)), start)
}

/** Returns all elements of a name at any depth below the element. */
export function findAll(element: XmlElement, name: string): readonly XmlElement[] {
  return element.children.flatMap((child) => [...(child.name === name ? [child] : []), ...findAll(child, name)])
}

/** Returns the text of the first element at a path, or an empty text. */
export function textAt(element: XmlElement | undefined, path: string): string {
  return elementsAt(element, path)[0]?.text.trim() ?? ''
}

/** The frequency in the first child with this name; null if there is none. */
export function khzAt(element: XmlElement | undefined, name: string): number | null {
  const [found] = childrenOf(element, name)
  return found === undefined ? null : parseKhz(found.text, found.line)
}
