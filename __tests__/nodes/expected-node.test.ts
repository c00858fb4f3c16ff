const EXPECTED = process.env['EXPECTED_NODE'];

test('the tests run on the Node that the suite names', () => {
  expect(process.version).toBe(EXPECTED ?? process.version);
});

test('Node 22 and later bring node:sqlite, Node 20 does not', () => {
  const major = Number(process.versions.node.split('.')[0]);
  expect(process.getBuiltinModule('node:sqlite') !== undefined).toBe(major >= 22);
});
