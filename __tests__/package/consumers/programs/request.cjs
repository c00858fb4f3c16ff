const core = require('express-idempotent');
const loaded = Object.keys(require.cache).filter((path) => path !== __filename);

const express = require('express');
const labels = require('express-idempotent/labels');
const sqlite = require('express-idempotent/sqlite');
const testing = require('express-idempotent/testing');
const { report } = require('./report.cjs');

report({ express, core, labels, sqlite, testing, loaded });
