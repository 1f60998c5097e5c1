import { expect, it } from 'vitest'
import { findByFileName, pictureTypeOf, withMount, withoutMount } from './picture.ts'

const bytesOf = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0))

// Conformance: C-16.2.
it.each([
  ['\x89PNG\r\n\x1a\n', 'image/png'],
  ['\xff\xd8\xff\xe0', 'image/jpeg'],
  ['RIFF\x10\x00\x00\x00WEBPVP8 ', 'image/webp'],
  ['RIFF\x10\x00\x00\x00WAVEfmt ', null],
  ['GIF89a', null],
  ['<svg xmlns="http://www.w3.org/2000/svg"/>', null],
  ['\x89PNG', null],
  ['', null],
])('determines the format of %j: %s', (start, type) => {
  expect(pictureTypeOf(bytesOf(start))).toBe(type)
})

it('adds the mount prefix to the addresses of stored pictures only', () => {
  for (const [stored, served] of [
    ['/api/pictures/1f', '/mics/api/pictures/1f'],
    ['/photos/ada.png', '/photos/ada.png'],
    ['https://example.com/api/pictures/1f', 'https://example.com/api/pictures/1f'],
    [null, null],
  ] as const) {
    expect(withMount({ picture: stored }, '/mics')).toEqual({ picture: served })
    expect(withoutMount({ picture: served }, '/mics')).toEqual({ picture: stored })
    expect(withMount({ picture: stored }, '')).toEqual({ picture: stored })
  }
  expect(withoutMount({}, '/mics')).toEqual({})
})

// Conformance: C-21.62.
it('finds people by the name of a file, apart from case, accents, spaces and the extension', () => {
  const people = ['Nóra Åberg', 'Nora Aberg', 'J. Smith'].map((name, id) => ({ id, name }))
  const idsOf = (file: string) => findByFileName(file, people).map(({ id }) => id)
  expect(['Nóra Åberg.jpg', 'NORA-ABERG.jpeg', 'J. Smith', 'j._smith.png', 'smith.png'].map(idsOf)).toEqual([
    [0],
    [0, 1],
    [2],
    [2],
    [],
  ])
})
